// How well a cost model's scores rank measured candidates. Pure functions on one group (task).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace lehr {

/// In all of these functions `predicted` and `truth` have equal length, higher is better in both, and only
/// the order of `predicted` counts. Equal predictions give the expected value over a random order of the tied
/// rows, so that a constant prediction earns as much as chance.

struct PairCount {
  double right = 0;  ///< pairs in the right order; a pair that the model ties counts one half
  double pairs = 0;  ///< pairs whose truths differ
};
PairCount count_pairs(std::span<const double> predicted, std::span<const double> truth);
/// Returns right / pairs in [0, 1]; 0.5 if all truths are equal.
double pairwise_accuracy(std::span<const double> predicted, std::span<const double> truth);

/// Picks of a session that are at most this far apart in the order of measurement were mostly scored by one
/// fit.
inline constexpr std::size_t kNearPicks = 8;
/// Returns pairwise_accuracy() over pairs of rows at most kNearPicks apart: scores of different fits share no
/// scale.
double near_pairwise_accuracy(std::span<const double> predicted, std::span<const double> truth);

/// Returns the share of the k truly best rows among the model's first k, in [0, 1]. Rows that tie with the
/// k-th truth are all right. k is cut to the number of rows; 0 rows give 0.
double top_k_recall(std::span<const double> predicted, std::span<const double> truth, std::size_t k);

/// Returns AutoTVM's a-recall: the mean over i = 1..k of the share of the i truly best rows among the model's
/// first i, in [0, 1]. Ties are in the order of the rows on both sides. k is cut to the number of rows; 0
/// rows give 0.
double average_recall(std::span<const double> predicted, std::span<const double> truth, std::size_t k);

/// Returns ranks from 0 for the highest value; ties get their mean rank.
std::vector<double> mean_ranks(std::span<const double> values);

/// Returns Spearman's rank correlation in [-1, 1] with mean ranks for ties; 0 if one side is constant.
double spearman(std::span<const double> predicted, std::span<const double> truth);

/// Shares of the rows for which recall is computed: whether a model finds the best.
inline constexpr std::array<double, 3> kTopShares = {0.01, 0.05, 0.10};

/// The figures by which a model is judged, together.
struct RankQuality {
  std::size_t rows = 0;
  double spearman = 0;
  double pairwise_accuracy = 0.5;
  /// top_k_recall with k = that share of the rows, rounded, at least 1. A random order gives k / rows.
  std::array<double, kTopShares.size()> recall{};
};
RankQuality rank_quality(std::span<const double> predicted, std::span<const double> truth);

}  // namespace lehr
