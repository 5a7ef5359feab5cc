// Several picks together, and the best by score.
#include "search/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

}  // namespace
}  // namespace lehr
