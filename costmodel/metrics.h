// How well a cost model's scores rank measured candidates. Pure functions on one group (task).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace lehr {

/// In all functions of this file, `predicted` and `truth` have equal length, higher is better in both, and
/// only the order of `predicted` matters. Equal predictions give the expected value over a random order of
/// the tied rows, so that a constant prediction is as good as chance.

struct PairCount {
  double right = 0;  ///< pairs in the right order; a pair that the model ties counts one half
  double pairs = 0;  ///< pairs whose truths differ
};
PairCount count_pairs(std::span<const double> predicted, std::span<const double> truth);
/// Returns right / pairs in [0, 1]; 0.5 if all truths are equal.
double pairwise_accuracy(std::span<const double> predicted, std::span<const double> truth);

/// Maximum distance, in the order of measurement, of two picks of a session that were mostly scored by the
/// same fit.
inline constexpr std::size_t kNearPicks = 8;
/// Returns pairwise_accuracy() over pairs of rows that are at most kNearPicks apart. Scores of different fits
/// cannot be compared.
double near_pairwise_accuracy(std::span<const double> predicted, std::span<const double> truth);

/// Returns the fraction of the k truly best rows that is among the first k rows of the model's ranking, in
/// [0, 1]. All rows that tie with the k-th true row count as right. k is limited to the number of rows; 0
/// rows give 0.
double top_k_recall(std::span<const double> predicted, std::span<const double> truth, std::size_t k);

/// Returns AutoTVM's a-recall, in [0, 1]: the mean over i = 1..k of the fraction of the i truly best rows
/// that is among the first i rows of the model's ranking. Ties are broken by the order of the rows in both
/// rankings. k is limited to the number of rows; 0 rows give 0.
double average_recall(std::span<const double> predicted, std::span<const double> truth, std::size_t k);

/// Returns the ranks, 0 for the highest value; ties get their mean rank.
std::vector<double> mean_ranks(std::span<const double> values);

/// Returns Spearman's rank correlation in [-1, 1] with mean ranks for ties; 0 if one side is constant.
double spearman(std::span<const double> predicted, std::span<const double> truth);

/// Fractions k / rows for which recall is computed. They show whether a model finds the best rows.
inline constexpr std::array<double, 3> kTopShares = {0.01, 0.05, 0.10};

/// The figures by which a model is judged, together.
struct RankQuality {
  std::size_t rows = 0;
  double spearman = 0;
  double pairwise_accuracy = 0.5;
  /// top_k_recall() for each of kTopShares, with k = that fraction of the rows, rounded and at least 1. A
  /// random order gives k / rows.
  std::array<double, kTopShares.size()> recall{};
};
RankQuality rank_quality(std::span<const double> predicted, std::span<const double> truth);

}  // namespace lehr
