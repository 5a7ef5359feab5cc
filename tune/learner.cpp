// The refit policy and the joint score.
#include "tune/learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "tune/held_out_rank.h"

namespace lehr {
namespace {

// However sure the validity model is of a failure, it costs a candidate at most 4 standard deviations: it can
// be wrong.
constexpr double kLeastChance = 0.02;

// A weight below this changes no pick and is not worth the predictions.
constexpr double kTooLittle = 0.02;

}  // namespace

Learner::Learner(std::size_t columns, CostModel* model, ValidityModel* validity,
                 const LearnerOptions& options)
    : model_(model),
      validity_(validity),
      options_(options),
      rows_(columns),
      failures_(columns),
      tried_(columns) {}

void Learner::add(std::span<const float> row, double time_us) {
  rows_.append(row);
  times_us_.push_back(time_us);
  if (time_us < fastest_us_ * (1 - options_.transfer_least_gain)) {
    fastest_us_ = time_us;
    fastest_at_ = times_us_.size();
  }
  tried_.append(row);
  valid_.push_back(true);
}

void Learner::add_failure(std::span<const float> row) {
  failures_.append(row);
  tried_.append(row);
  valid_.push_back(false);
}

FeatureMatrix Learner::extended(const FeatureMatrix& rows) const {
  if (!asks_transfer_) return rows;
  const std::vector<double> hints = transfer_->predict(rows);
  FeatureMatrix result(rows.columns() + 1);
  result.reserve(rows.rows());
  std::vector<float> row(rows.columns() + 1);
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::ranges::copy(rows.row(i), row.begin());
    row.back() = static_cast<float>(hints[i]);
    result.append(row);
  }
  return result;
}

bool Learner::uses_hints() const {
  return transfer_ && !transfer_dropped_ && times_us_.size() < options_.transfer_rows &&
         times_us_.size() < std::max(options_.first_fit, fastest_at_) + options_.transfer_patience;
}

void Learner::judge_transfer() {
  const double theirs = rank_of(transfer_->predict(rows_), times_us_);
  // The variance of Spearman's coefficient of n independent pairs is 1 / (n - 1) (Hotelling and Pabst, 1936).
  const double deviation = 1 / std::sqrt(static_cast<double>(times_us_.size()) - 1);
  if (theirs >= -options_.transfer_doubt * deviation) return;
  transfer_dropped_ = theirs < held_out_rank(*model_, rows_, times_us_);
}

double Learner::transfer_weight() const {
  return uses_hints() ? std::exp2(-static_cast<double>(times_us_.size()) / options_.transfer_halving) : 0;
}

bool Learner::refit_if_due() {
  if (!model_ || times_us_.empty()) return false;
  const auto share = static_cast<std::size_t>(options_.new_share * static_cast<double>(rows_at_fit_));
  const std::size_t due = fitted() ? std::max(options_.least_new, share) : options_.first_fit;
  if (options_.process && times_us_.size() >= options_.first_fit) {
    const bool prior = options_.hints_as_prior && uses_hints();
    process_.fit(rows_, times_us_, prior ? transfer_->predict(rows_) : std::vector<double>());
  }
  if (learnable() < rows_at_fit_ + due) return false;
  const bool asked = asks_transfer_ || uses_hints();
  if (asked && times_us_.size() >= options_.transfer_judged) judge_transfer();
  asks_transfer_ = uses_hints();
  const FeatureMatrix rows = extended(rows_);
  Dataset data(rows.columns());
  append_group(data, rows, times_us_);
  if (options_.failures_are_slow) append_failures(data, extended(failures_));
  model_->fit(data);
  if (validity_) validity_->fit(tried_, valid_);
  const double deviation = standard_deviation(model_->predict(rows));
  scale_ = deviation > 1e-9 ? deviation : 1;
  rows_at_fit_ = learnable();
  ++fits_;
  return true;
}

std::vector<std::size_t> Learner::choose(const FeatureMatrix& rows, std::span<const double> scores,
                                         std::size_t n) const {
  CHECK(chooses() && rows.rows() == scores.size(), "rows={} scores={}", rows.rows(), scores.size());
  Beliefs beliefs(process_, rows, process_.has_prior() ? transfer_->predict(rows) : std::vector<double>());
  const double exploration = uses_hints() ? options_.hinted_curiosity : options_.exploration;
  std::vector<std::size_t> left(scores.size()), picks;
  std::iota(left.begin(), left.end(), 0);
  while (picks.size() < n && !left.empty()) {
    const auto best = std::ranges::max_element(left, {}, [&](std::size_t i) {
      return scores[i] + beliefs.mean(i) + exploration * beliefs.deviation(i);
    });
    picks.push_back(*best);
    left.erase(best);
    beliefs.assume_measured(picks.back());
  }
  return picks;
}

std::vector<double> Learner::predict(const FeatureMatrix& rows) const {
  CHECK(ready());
  std::vector<double> scores(rows.rows(), 0);
  if (fitted()) {
    scores = model_->predict(extended(rows));
    for (double& score : scores) score /= scale_;
  }
  if (const double weight = transfer_weight(); weight > kTooLittle) {
    const std::vector<double> hints = transfer_->predict(rows);
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += weight * hints[i];
  }
  if (!validity_ || !validity_->learnt()) return scores;
  const std::vector<double> chances = validity_->predict(rows);
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += std::log(std::max(kLeastChance, chances[i]));
  return scores;
}

}  // namespace lehr
