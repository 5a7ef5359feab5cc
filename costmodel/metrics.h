// How well a model's scores rank what was measured. Pure functions on one group (task).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace lehr {

/// In all of these `predicted` and `truth` have equal length, higher is better in both, and only the order of
/// `predicted` counts. Where the model gives equal scores, the expected value over a random order of the tied
/// is taken, so that a constant prediction earns what chance earns and no more.

struct PairCount {
  double right = 0;  ///< pairs in the right order; a pair that the model ties counts one half
  double pairs = 0;  ///< pairs whose truths differ
};
PairCount count_pairs(std::span<const double> predicted, std::span<const double> truth);
/// right / pairs in [0, 1]; 0.5 where no two truths differ.
double pairwise_accuracy(std::span<const double> predicted, std::span<const double> truth);

/// Picks of a session that are no further apart in the order of measurement were mostly scored by one fit.
inline constexpr std::size_t kNearPicks = 8;
/// pairwise_accuracy() over pairs of rows at most kNearPicks apart: scores of different fits share no scale.
double near_pairwise_accuracy(std::span<const double> predicted, std::span<const double> truth);

/// Share of the k truly best rows among the model's first k, in [0, 1]. Rows that tie with the k-th truth are
/// all good answers. k is cut to the number of rows; 0 rows give 0.
double top_k_recall(std::span<const double> predicted, std::span<const double> truth, std::size_t k);

/// AutoTVM's a-recall: the mean over i = 1..k of the share of the i truly best rows among the model's first
/// i, in [0, 1]. Ties are in the order of the rows on both sides. k is cut to the number of rows; 0 rows give
/// 0.
double average_recall(std::span<const double> predicted, std::span<const double> truth, std::size_t k);

/// Ranks from 0 for the highest value, the mean rank for ties.
std::vector<double> mean_ranks(std::span<const double> values);

/// Spearman's rank correlation in [-1, 1] with mean ranks for ties; 0 where one side is constant.
double spearman(std::span<const double> predicted, std::span<const double> truth);

/// Shares of the rows whose recall says whether a model finds the best.
inline constexpr std::array<double, 3> kTopShares = {0.01, 0.05, 0.10};

/// The figures by which a model is judged, together.
struct RankQuality {
  std::size_t rows = 0;
  double spearman = 0;
  double pairwise_accuracy = 0.5;
  /// top_k_recall, k = that share of the rows, rounded, at least 1. A random order gives k / rows.
  std::array<double, kTopShares.size()> recall{};
};
RankQuality rank_quality(std::span<const double> predicted, std::span<const double> truth);

}  // namespace lehr
