// The pure parts of the batch choice.
#include "search/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "tests/search/one_knob.h"

namespace lehr {
namespace {

using lehr::testing::kInfinity;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Point point(std::size_t a, std::size_t b) {
  return {0, {static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)}};
}

// 50 x 50 points.
Space two_knobs() {
  FamilySpace family("f");
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < 50; ++i) values.push_back(i);
  family.add("a", "", values);
  family.add("b", "", values);
  return Space({family});
}

TEST(Batch, TakesEachUnseenConfigOnceUntilItIsFull) {
  const Seen seen{point(0, 0)};
  Batch batch(2, seen);
  EXPECT_FALSE(batch.add(point(0, 0)));
  EXPECT_TRUE(batch.add(point(1, 0)));
  EXPECT_FALSE(batch.accepts(point(1, 0)));
  EXPECT_FALSE(batch.add(point(1, 0)));
  EXPECT_EQ(batch.room(), 1U);
  EXPECT_TRUE(batch.add(point(0, 1)));
  EXPECT_TRUE(batch.full());
  EXPECT_FALSE(batch.add(point(2, 2)));
  EXPECT_THAT(batch.picks(), ElementsAre(point(1, 0), point(0, 1)));
  Batch none(0, seen);
  EXPECT_FALSE(none.add(point(1, 0)));
}

TEST(TopK, IsBestFirstWithTiesInOrder) {
  const std::vector<double> scores{1, 3, -2, 3, kNan, -kInfinity, kInfinity};
  EXPECT_THAT(top_k(scores, 4), ElementsAre(6, 1, 3, 0));
  EXPECT_THAT(top_k(scores, 100), ElementsAre(6, 1, 3, 0, 2, 5, 4));
  EXPECT_THAT(top_k(scores, 0), IsEmpty());
  EXPECT_THAT(top_k({}, 3), IsEmpty());
}

TEST(ShareOf, IsExactOnAverage) {
  Rng rng(1);
  EXPECT_EQ(share_of(64, 0.25, rng), 16U);
  EXPECT_EQ(share_of(64, 0, rng), 0U);
  EXPECT_EQ(share_of(64, 1, rng), 64U);
  std::size_t sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t share = share_of(4, 0.05, rng);
    EXPECT_LE(share, 1U);
    sum += share;
  }
  EXPECT_NEAR(static_cast<double>(sum), 2'000, 160);
  EXPECT_THROW(share_of(4, 1.5, rng), Error);
}

TEST(Epsilon, FallsLinearlyAndThenStays) {
  const EpsilonSchedule schedule{0.2, 0.05, 5};
  EXPECT_DOUBLE_EQ(epsilon_at(schedule, 0), 0.2);
  EXPECT_DOUBLE_EQ(epsilon_at(schedule, 1), 0.17);
  EXPECT_DOUBLE_EQ(epsilon_at(schedule, 5), 0.05);
  EXPECT_DOUBLE_EQ(epsilon_at(schedule, 500), 0.05);
  EXPECT_DOUBLE_EQ(epsilon_at({0.2, 0.05, 0}, 0), 0.05);
}

TEST(DiversePick, WithoutWeightIsTheBestByScore) {
  Rng rng(5);
  std::vector<ScoredPoint> candidates;
  std::vector<double> scores;
  for (std::size_t i = 0; i < 50; ++i) {
    scores.push_back(rng.uniform() * 20 - 10);
    candidates.push_back({point(i % 7, i), scores.back()});
  }
  EXPECT_EQ(diverse_pick(two_knobs(), candidates, 20, 0), top_k(scores, 20));
}

TEST(DiversePick, TradesScoreForNewValues) {
  // b repeats the values of a; c is a little worse and new in both knobs; d is far worse.
  const std::vector<ScoredPoint> candidates{
      {point(1, 1), 1.0}, {point(1, 2), 0.95}, {point(3, 3), 0.9}, {point(4, 4), 0.0}};
  EXPECT_THAT(diverse_pick(two_knobs(), candidates, 2, 0), ElementsAre(0, 1));
  EXPECT_THAT(diverse_pick(two_knobs(), candidates, 2, 0.25), ElementsAre(0, 2));
  EXPECT_THAT(diverse_pick(two_knobs(), candidates, 3, 0.25), ElementsAre(0, 2, 1));
  EXPECT_THAT(diverse_pick(two_knobs(), candidates, 3, 100), ElementsAre(0, 2, 3));
}

TEST(DiversePick, DependsOnTheOrderOfScoresUpToScaleAndOffset) {
  Rng rng(6);
  std::vector<ScoredPoint> candidates;
  for (std::size_t i = 0; i < 40; ++i) candidates.push_back({point(i % 5, i % 11), rng.uniform()});
  const auto picks = diverse_pick(two_knobs(), candidates, 12, 0.25);
  for (ScoredPoint& each : candidates) each.score = each.score * 1000 - 5000;
  EXPECT_EQ(diverse_pick(two_knobs(), candidates, 12, 0.25), picks);
}

TEST(DiversePick, CoversAllValuesOfEqualScores) {
  std::vector<ScoredPoint> candidates;
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) candidates.push_back({point(a, b), -3});
  }
  std::set<std::uint16_t> first;
  std::set<std::uint16_t> second;
  for (std::size_t i : diverse_pick(two_knobs(), candidates, 8, 0.25)) {
    first.insert(candidates[i].point.knobs[0]);
    second.insert(candidates[i].point.knobs[1]);
  }
  EXPECT_EQ(first.size(), 8U);
  EXPECT_EQ(second.size(), 8U);
}

TEST(DiversePick, TakesScoresThatAreNotFiniteLast) {
  const std::vector<ScoredPoint> candidates{{point(1, 1), -kInfinity}, {point(2, 2), -1}, {point(3, 3), -2}};
  EXPECT_THAT(diverse_pick(two_knobs(), candidates, 5, 0),
              ElementsAre(1, 0, 2));  // the lowest finite score counts as the lowest
  EXPECT_THAT(diverse_pick(two_knobs(), {}, 5, 0.25), IsEmpty());
}

}  // namespace
}  // namespace lehr
