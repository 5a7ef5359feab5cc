// Decides when to fit, and computes the score.
#include "tune/learner.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace lehr {
namespace {

// Lower bound of the chance to be valid: a failure costs a candidate at most 4 standard deviations, however
// sure the validity model is, since it can be wrong.
constexpr double kLeastChance = 0.02;

double deviation_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0, square = 0;
  for (const double value : values) mean += value / count;
  for (const double value : values) square += (value - mean) * (value - mean) / count;
  return std::sqrt(square);
}

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
  tried_.append(row);
  valid_.push_back(true);
}

void Learner::add_failure(std::span<const float> row) {
  failures_.append(row);
  tried_.append(row);
  valid_.push_back(false);
}

FeatureMatrix Learner::extended(const FeatureMatrix& rows) const {
  if (!transfer_) return rows;
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

bool Learner::due() const {
  if (!model_ || times_us_.empty()) return false;
  const auto share = static_cast<std::size_t>(options_.new_share * static_cast<double>(rows_at_fit_));
  const std::size_t fresh = fitted() ? std::max(options_.least_new, share) : options_.first_fit;
  return learnable() >= rows_at_fit_ + fresh;
}

void Learner::fit() {
  CHECK(due());
  const FeatureMatrix rows = extended(rows_);
  Dataset data(rows.columns());
  append_group(data, rows, times_us_);
  if (options_.failures_are_slow) append_failures(data, extended(failures_));
  model_->fit(data);
  if (validity_) validity_->fit(tried_, valid_);
  const double deviation = deviation_of(model_->predict(rows));
  scale_ = deviation > 1e-9 ? deviation : 1;
  rows_at_fit_ = learnable();
  ++fits_;
}

std::vector<double> Learner::predict(const FeatureMatrix& rows) const {
  CHECK(ready());
  std::vector<double> scores = fitted() ? model_->predict(extended(rows)) : transfer_->predict(rows);
  const std::vector<double> chances = log_chances(rows);
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = (fitted() ? scores[i] / scale_ : scores[i]) + chances[i];
  return scores;
}

std::vector<double> Learner::log_chances(const FeatureMatrix& rows) const {
  if (!validity_ || !validity_->learnt()) return std::vector<double>(rows.rows(), 0);
  std::vector<double> chances = validity_->predict(rows);
  for (double& chance : chances) chance = std::log(std::max(kLeastChance, chance));
  return chances;
}

}  // namespace lehr
