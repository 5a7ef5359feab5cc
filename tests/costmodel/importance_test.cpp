// Tests of held-out folds, and of the columns that a planted ranking rests on.
#include "costmodel/importance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "costmodel/feature_groups.h"
#include "costmodel/metrics.h"
#include "tests/costmodel/planted.h"

namespace lehr {
namespace {

using test::speeds;

struct Rows {
  FeatureMatrix rows{8};
  std::vector<double> times_us;
};

/// Returns eight random columns. The first three make the time: column 0 by a valley, 1 by a slope, 2 by a
/// step.
Rows three_of_eight(std::size_t n, std::uint64_t seed) {
  Rng rng(seed);
  Rows result;
  std::array<float, 8> row;
  for (std::size_t i = 0; i < n; ++i) {
    for (float& value : row) value = static_cast<float>(rng.below(8));
    result.rows.append(row);
    result.times_us.push_back(std::exp(0.3 * std::abs(row[0] - 4) + 0.2 * row[1] + (row[2] > 5 ? 0.8 : 0)));
  }
  return result;
}

std::vector<std::vector<std::size_t>> each_alone(std::size_t columns) {
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t c = 0; c < columns; ++c) sets.push_back({c});
  return sets;
}

TEST(CrossValidation, RanksAPlantedOrderThatEachModelHasNotSeenAndNotChance) {
  const Rows rows = three_of_eight(250, 3);
  const CrossValidation folds(rows.rows, rows.times_us, 5);
  EXPECT_GT(spearman(folds.predict(rows.rows), speeds(rows.times_us)), 0.7);
  Rows random = three_of_eight(250, 3);
  Rng rng(4);
  rng.shuffle(random.times_us);
  const CrossValidation blind(random.rows, random.times_us, 5);
  // A model that had seen its own rows would rank them well.
  EXPECT_LT(spearman(blind.predict(random.rows), speeds(random.times_us)), 0.2);
}

TEST(CrossValidation, AModelsOwnRowDoesNotReachIt) {
  // Row 7's time is absurd; its own prediction must be the same as with a sane one.
  Rows rows = three_of_eight(40, 5);
  const std::vector<double> before = CrossValidation(rows.rows, rows.times_us, 4).predict(rows.rows);
  rows.times_us[7] *= 1.7;
  const std::vector<double> after = CrossValidation(rows.rows, rows.times_us, 4).predict(rows.rows);
  EXPECT_EQ(before[7], after[7]);
  EXPECT_NE(before, after) << "the other folds have seen it";
}

TEST(PermutationImportance, FindsThePlantedColumnsAndNoOthers) {
  const Rows rows = three_of_eight(300, 11);
  const CrossValidation folds(rows.rows, rows.times_us, 5);
  const std::vector<double> weights =
      permutation_importance(folds, rows.rows, speeds(rows.times_us), each_alone(rows.rows.columns()));
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater<>(), [&](std::size_t c) { return weights[c]; });
  std::ranges::sort(order.begin(), order.begin() + 3);
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 3), ::testing::ElementsAre(0, 1, 2));
  for (std::size_t other = 3; other < 8; ++other) EXPECT_LT(weights[other], 0.05) << other;
  EXPECT_EQ(weights,
            permutation_importance(folds, rows.rows, speeds(rows.times_us), each_alone(rows.rows.columns())));
}

TEST(PermutationImportance, TwinsCountAsASetWhatTheyDoNotCountAlone) {
  // Columns 0 and 1 are two copies of what makes the time, each wrong in other rows.
  Rng rng(12);
  FeatureMatrix rows(4);
  std::vector<double> times_us;
  for (int i = 0; i < 300; ++i) {
    const auto truth = static_cast<float>(rng.below(64));
    const auto copy = [&] { return rng.uniform() < 0.15 ? static_cast<float>(rng.below(64)) : truth; };
    const float first = copy(), second = copy();
    rows.append(
        std::array{first, second, static_cast<float>(rng.below(64)), static_cast<float>(rng.below(64))});
    times_us.push_back(10 + static_cast<double>(truth));
  }
  const CrossValidation folds(rows, times_us, 5);
  const std::vector<double> weights =
      permutation_importance(folds, rows, speeds(times_us), {{0}, {1}, {0, 1}, {2, 3}});
  EXPECT_GT(weights[2], weights[0] + 0.1);
  EXPECT_GT(weights[2], weights[1] + 0.1);
  EXPECT_GT(weights[2], 0.5);
  EXPECT_LT(weights[3], 0.1);
}

TEST(GainShares, AddUpToOneAndSingleOutThePlantedColumns) {
  const Rows rows = three_of_eight(300, 13);
  XgboostModel model;
  EXPECT_TRUE(model.gain_shares().empty());
  Dataset data(8);
  append_group(data, rows.rows, rows.times_us);
  model.fit(data);
  const std::vector<double> shares = model.gain_shares();
  ASSERT_EQ(shares.size(), rows.rows.columns());
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-6);
  EXPECT_GT(shares[0] + shares[1] + shares[2], 0.7) << "three of eight";
}

TEST(FeatureGroups, AreTheWholeTableInOrder) {
  std::size_t next = 0;
  for (const FeatureGroup& group : feature_groups()) {
    EXPECT_EQ(group.first, next) << group.name;
    EXPECT_GT(group.columns, 0u) << group.name;
    next += group.columns;
  }
  EXPECT_EQ(next, feature_table().size());
  const auto holds = [](std::string_view group, std::string_view column) {
    const auto found = std::ranges::find(feature_groups(), group, &FeatureGroup::name);
    const std::size_t at = feature_index(column);
    return found != feature_groups().end() && at >= found->first && at < found->first + found->columns;
  };
  EXPECT_TRUE(holds("kernel", "flops"));
  EXPECT_TRUE(holds("memory", "l1_traffic"));
  EXPECT_TRUE(holds("relations", "operand0_reuse_at_count_2^3"));
}

TEST(RankQuality, IsOnPlantedPredictionsWhatTheyDeserve) {
  std::vector<double> truth, reversed;
  for (int i = 0; i < 200; ++i) {
    truth.push_back(i);
    reversed.push_back(-i);
  }
  const RankQuality right = rank_quality(truth, truth), wrong = rank_quality(reversed, truth);
  EXPECT_EQ(right.rows, 200u);
  EXPECT_NEAR(right.spearman, 1, 1e-12);
  EXPECT_EQ(right.pairwise_accuracy, 1);
  EXPECT_NEAR(wrong.spearman, -1, 1e-12);
  EXPECT_EQ(wrong.pairwise_accuracy, 0);
  // All right but for the best two and the next two, which changed places: 1 % are 2 rows, 5 % are 10.
  std::vector<double> swapped = truth;
  std::swap(swapped[199], swapped[197]);
  std::swap(swapped[198], swapped[196]);
  const RankQuality almost = rank_quality(swapped, truth);
  EXPECT_EQ(almost.recall[0], 0);
  EXPECT_EQ(almost.recall[1], 1);
  for (std::size_t i = 0; i < kTopShares.size(); ++i) {
    EXPECT_EQ(right.recall[i], 1);
    EXPECT_EQ(wrong.recall[i], 0);
    EXPECT_NEAR(rank_quality(std::vector<double>(200, 1.0), truth).recall[i], kTopShares[i], 1e-12);
  }
}

}  // namespace
}  // namespace lehr
