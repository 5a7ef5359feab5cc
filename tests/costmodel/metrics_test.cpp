// Tests of ranking metrics on cases small enough to be worked out by hand, and against brute force.
#include "costmodel/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace lehr {
namespace {

using Values = std::vector<double>;

TEST(PairwiseAccuracy, CountsPairsInTheRightOrder) {
  EXPECT_EQ(pairwise_accuracy(Values{3, 2, 1}, Values{30, 20, 10}), 1);
  EXPECT_EQ(pairwise_accuracy(Values{1, 2, 3}, Values{30, 20, 10}), 0);
  EXPECT_DOUBLE_EQ(pairwise_accuracy(Values{3, 1, 2}, Values{30, 20, 10}), 2.0 / 3);
}

TEST(PairwiseAccuracy, IgnoresTiedTruthsAndHalvesTiedPredictions) {
  EXPECT_EQ(count_pairs(Values{1, 2, 3}, Values{5, 5, 5}).pairs, 0);
  EXPECT_EQ(pairwise_accuracy(Values{1, 2, 3}, Values{5, 5, 5}), 0.5);
  EXPECT_EQ(pairwise_accuracy(Values{7, 7, 7}, Values{1, 2, 3}), 0.5);
  EXPECT_DOUBLE_EQ(pairwise_accuracy(Values{2, 2, 1}, Values{3, 2, 1}), 2.5 / 3);
  EXPECT_EQ(pairwise_accuracy(Values{}, Values{}), 0.5);
}

TEST(TopKRecall, IsTheShareOfTheBestAmongTheFirst) {
  const Values truth{10, 9, 8, 7, 6};
  EXPECT_EQ(top_k_recall(Values{5, 4, 3, 2, 1}, truth, 2), 1);
  EXPECT_EQ(top_k_recall(Values{1, 2, 3, 4, 5}, truth, 2), 0);
  EXPECT_EQ(top_k_recall(Values{5, 1, 4, 2, 3}, truth, 2), 0.5);
  EXPECT_EQ(top_k_recall(Values{1, 2, 3, 4, 5}, truth, 99), 1);
  EXPECT_EQ(top_k_recall(Values{}, Values{}, 3), 0);
}

TEST(TopKRecall, GivesAConstantPredictionWhatChanceGives) {
  EXPECT_DOUBLE_EQ(top_k_recall(Values{1, 1, 1, 1}, Values{4, 3, 2, 1}, 1), 0.25);
  EXPECT_DOUBLE_EQ(top_k_recall(Values{1, 1, 1, 1}, Values{4, 3, 2, 1}, 2), 0.5);
}

TEST(TopKRecall, AcceptsAnyOfTheTruthsThatTieAtTheBar) {
  EXPECT_EQ(top_k_recall(Values{0, 0, 1}, Values{2, 3, 2}, 1), 0);
  EXPECT_EQ(top_k_recall(Values{1, 0, 2}, Values{2, 3, 2}, 2), 1);
}

TEST(AverageRecall, IsTheMeanOfTheRecallsOfTheFirst) {
  EXPECT_EQ(average_recall(Values{3, 2, 1}, Values{30, 20, 10}, 3), 1);
  // The first 1, 2, 3 of the model hold 0, 1 and 3 of the best 1, 2, 3.
  EXPECT_DOUBLE_EQ(average_recall(Values{2, 1, 3}, Values{30, 20, 10}, 3), (0 + 0.5 + 1) / 3);
  EXPECT_DOUBLE_EQ(average_recall(Values{2, 1, 3}, Values{30, 20, 10}, 1), 0);
  EXPECT_EQ(average_recall(Values{}, Values{}, 4), 0);
}

TEST(AverageRecall, AgreesWithItsDefinition) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::size_t n = 1 + rng.below(40), k = 1 + rng.below(50);
    Values predicted, truth;
    for (std::size_t i = 0; i < n; ++i) {
      predicted.push_back(rng.uniform());
      truth.push_back(rng.uniform());
    }
    double sum = 0;
    const std::size_t most = std::min(k, n);
    for (std::size_t i = 1; i <= most; ++i)
      sum += top_k_recall(predicted, truth, i) / static_cast<double>(most);
    EXPECT_NEAR(average_recall(predicted, truth, k), sum, 1e-12);
  }
}

TEST(RankMetrics, TiesAgreeWithTheAverageOverAllOrders) {
  // Breaks the ties of a prediction in all orders and averages what the metrics say without ties.
  const Values predicted{2, 1, 2, 1, 2}, truth{0.3, 0.9, 0.6, 1.0, 0.1};
  for (std::size_t k = 1; k <= 5; ++k) {
    std::vector<int> order{0, 1, 2, 3, 4};
    double recall = 0, pairs = 0;
    int orders = 0;
    do {
      Values broken = predicted;
      for (std::size_t i = 0; i < 5; ++i) broken[i] += 0.01 * order[i];
      recall += top_k_recall(broken, truth, k);
      pairs += pairwise_accuracy(broken, truth);
      ++orders;
    } while (std::ranges::next_permutation(order).found);
    EXPECT_NEAR(top_k_recall(predicted, truth, k), recall / orders, 1e-12) << k;
    EXPECT_NEAR(pairwise_accuracy(predicted, truth), pairs / orders, 1e-12);
  }
}

TEST(Spearman, IsExactOnSmallCases) {
  EXPECT_DOUBLE_EQ(spearman(Values{1, 2, 3, 4}, Values{10, 20, 30, 400}), 1);
  EXPECT_DOUBLE_EQ(spearman(Values{4, 3, 2, 1}, Values{10, 20, 30, 400}), -1);
  EXPECT_DOUBLE_EQ(spearman(Values{1, 3, 2, 4}, Values{1, 2, 3, 4}), 0.8);  // 1 - 6*2/(4*15)
  EXPECT_EQ(spearman(Values{1, 1, 1}, Values{1, 2, 3}), 0);
  // Mean ranks 0, 1.5, 1.5, 3 against 0..3: 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(spearman(Values{1, 2, 2, 3}, Values{1, 2, 3, 4}), std::sqrt(0.9), 1e-12);
}

}  // namespace
}  // namespace lehr
