// Fits, stops, refits and keeps the boosted trees.
#include "costmodel/xgboost_model.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "costmodel/metrics.h"

namespace lehr {
namespace {

/// From this many rows on, some are held out.
constexpr std::size_t kFewestRowsToHoldOut = 20;
/// Rounds where no held-out rows can say when to stop.
constexpr int kUncheckedRounds = 30;
/// Up to here exact splits are as fast as histograms, above they are not (measured with XGBoost 1.7.4 on two
/// Zen 5 cores, 64 to 4096 rows of 128 to 512 columns).
constexpr std::size_t kMostRowsForExact = 512;

std::vector<std::uint32_t> group_sizes(const std::vector<int>& groups) {
  std::vector<std::uint32_t> sizes;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == 0 || groups[i] != groups[i - 1]) sizes.push_back(0);
    ++sizes.back();
  }
  return sizes;
}

/// Share of the pairs within groups that the predictions put right.
double pair_score(const std::vector<double>& predicted, const std::vector<double>& targets,
                  const std::vector<std::uint32_t>& sizes) {
  PairCount total;
  std::size_t begin = 0;
  for (const std::uint32_t size : sizes) {
    const PairCount count =
        count_pairs(std::span(predicted).subspan(begin, size), std::span(targets).subspan(begin, size));
    total.right += count.right;
    total.pairs += count.pairs;
    begin += size;
  }
  return total.pairs > 0 ? total.right / total.pairs : 0.5;
}

BoosterParameters parameters_of(const XgboostOptions& options, std::size_t rows) {
  BoosterParameters parameters = {{"objective", "rank:pairwise"},
                                  {"tree_method", rows <= kMostRowsForExact ? "exact" : "hist"},
                                  {"max_depth", std::to_string(options.max_depth)},
                                  {"eta", fmt::format("{}", options.eta)},
                                  {"min_child_weight", fmt::format("{}", options.min_child_weight)},
                                  {"nthread", std::to_string(options.threads)},
                                  {"seed", std::to_string(options.seed % 0x7fffffff)},
                                  {"disable_default_eval_metric", "1"},
                                  {"verbosity", "0"}};
  std::ranges::move(pairs_per_row(options.pairs_per_row), std::back_inserter(parameters));
  return parameters;
}

TrainingMatrix training_matrix(const Dataset& data, const XgboostOptions& options) {
  return TrainingMatrix(data.rows, data.targets, group_sizes(data.groups), options.threads);
}

}  // namespace

void XgboostModel::fit(const Dataset& data) {
  CHECK(data.rows.rows() == data.size() && data.groups.size() == data.size(), "rows={} targets={} groups={}",
        data.rows.rows(), data.size(), data.groups.size());
  trained_.reset();
  report_ = {};
  report_.rows = data.size();
  if (data.size() == 0) return;

  std::optional<Split> split;
  if (data.size() >= kFewestRowsToHoldOut) split = split_by_row(data, options_.held_out_share, options_.seed);
  if (!split || split->held_out.size() == 0) {
    report_.rounds = std::min(kUncheckedRounds, options_.boosting.most_rounds);
    trained_.emplace(
        boost(training_matrix(data, options_), parameters_of(options_, data.size()), report_.rounds));
    return;
  }
  const std::vector<double> targets(split->held_out.targets.begin(), split->held_out.targets.end());
  const std::vector<std::uint32_t> sizes = group_sizes(split->held_out.groups);
  const auto score = [&](const std::vector<double>& predicted) {
    return pair_score(predicted, targets, sizes);
  };
  const Boosted boosted = boost_until_held_out_stalls(
      training_matrix(split->train, options_), split->held_out.rows, score,
      parameters_of(options_, split->train.size()), options_.boosting, options_.threads);
  report_.held_out_rows = split->held_out.size();
  report_.held_out_score = boosted.score;
  report_.rounds = boosted.rounds;
  trained_.emplace(
      boost(training_matrix(data, options_), parameters_of(options_, data.size()), report_.rounds));
}

std::vector<double> XgboostModel::predict(const FeatureMatrix& rows) const {
  if (!trained_) return std::vector<double>(rows.rows(), 0.0);
  return trained_->forest.predict(rows);
}

std::vector<double> XgboostModel::gain_shares() const {
  if (!trained_) return {};
  std::vector<double> shares = trained_->booster.total_gain();
  double sum = 0;
  for (const double gain : shares) sum += gain;
  if (sum > 0)
    for (double& gain : shares) gain /= sum;
  return shares;
}

}  // namespace lehr
