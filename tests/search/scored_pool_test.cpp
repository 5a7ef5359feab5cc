// Scoring with a memory and a budget.
#include "search/scored_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/search/one_knob.h"

namespace lehr {
namespace {

using lehr::testing::at;
using lehr::testing::kInfinity;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct CountingScore {
  std::vector<std::uint16_t> asked;
  int calls = 0;
  Score score() {
    return [this](std::span<const Point> points) {
      ++calls;
      std::vector<double> scores;
      for (const Point& point : points) {
        asked.push_back(point.knobs[0]);
        scores.push_back(static_cast<double>(point.knobs[0]));
      }
      return scores;
    };
  }
};

TEST(ScoredPool, ScoresEachConfigOnceAndAllNewOnesInOneCall) {
  CountingScore counter;
  const Score score = counter.score();
  const Seen seen;
  ScoredPool pool(score, seen, 2, 100);
  EXPECT_THAT(pool.score(std::vector<Point>{at(3), at(5), at(3), at(4)}), ElementsAre(3, 5, 3, 4));
  EXPECT_THAT(pool.score(std::vector<Point>{at(4), at(6)}), ElementsAre(4, 6));
  EXPECT_THAT(pool.score(std::vector<Point>{at(6), at(3)}), ElementsAre(6, 3));
  EXPECT_THAT(counter.asked, ElementsAre(3, 5, 4, 6));
  EXPECT_EQ(counter.calls, 2);
  EXPECT_EQ(pool.scored(), 4U);
}

TEST(ScoredPool, KeepsTheBestThatAreNotSeen) {
  CountingScore counter;
  const Score score = counter.score();
  const Seen seen{at(9)};
  ScoredPool pool(score, seen, 2, 100);
  pool.score(std::vector<Point>{at(1), at(9), at(2)});
  EXPECT_EQ(pool.changes(), 2U);
  pool.score(std::vector<Point>{at(0)});
  EXPECT_EQ(pool.changes(), 2U);
  pool.score(std::vector<Point>{at(7)});
  EXPECT_EQ(pool.changes(), 3U);
  const auto best = pool.best();
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].point, at(7));
  EXPECT_EQ(best[0].score, 7);
  EXPECT_EQ(best[1].point, at(2));
}

TEST(ScoredPool, StopsAtItsBudget) {
  CountingScore counter;
  const Score score = counter.score();
  const Seen seen;
  ScoredPool pool(score, seen, 10, 2);
  EXPECT_THAT(pool.score(std::vector<Point>{at(1), at(2), at(3), at(1)}), ElementsAre(1, 2, -kInfinity, 1));
  EXPECT_TRUE(pool.spent());
  EXPECT_THAT(pool.score(std::vector<Point>{at(4), at(2)}), ElementsAre(-kInfinity, 2));
  EXPECT_THAT(counter.asked, ElementsAre(1, 2));
  EXPECT_EQ(pool.best().size(), 2U);
}

TEST(ScoredPool, TakesNanAsTheWorst) {
  const Score score = [](std::span<const Point> points) {
    return std::vector<double>(points.size(), std::numeric_limits<double>::quiet_NaN());
  };
  const Seen seen;
  ScoredPool pool(score, seen, 2, 10);
  EXPECT_THAT(pool.score(std::vector<Point>{at(1)}), ElementsAre(-kInfinity));
  EXPECT_EQ(pool.spread(), 1);
}

TEST(ScoredPool, KnowsTheSpreadOfItsScores) {
  const Seen seen;
  CountingScore counter;
  const Score score = counter.score();
  ScoredPool pool(score, seen, 2, 100);
  EXPECT_EQ(pool.spread(), 1);
  pool.score(std::vector<Point>{at(1000), at(1002), at(1004)});
  EXPECT_NEAR(pool.spread(), std::sqrt(8.0 / 3), 1e-12);
  const Score constant = [](std::span<const Point> points) {
    return std::vector<double>(points.size(), 0.1);
  };
  ScoredPool flat(constant, seen, 2, 100);
  flat.score(std::vector<Point>{at(1), at(2), at(3)});
  EXPECT_EQ(flat.spread(), 1);
}

TEST(ScoredPool, RefusesAScorerThatForgetsConfigs) {
  const Score score = [](std::span<const Point>) { return std::vector<double>{1}; };
  const Seen seen;
  ScoredPool pool(score, seen, 2, 10);
  EXPECT_THROW(pool.score(std::vector<Point>{at(1), at(2)}), Error);
}

TEST(ScoredPool, MayKeepNothing) {
  CountingScore counter;
  const Score score = counter.score();
  const Seen seen;
  ScoredPool pool(score, seen, 0, 10);
  pool.score(std::vector<Point>{at(1)});
  EXPECT_THAT(pool.best(), IsEmpty());
}

}  // namespace
}  // namespace lehr
