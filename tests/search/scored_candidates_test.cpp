// Scoring with a memory and a budget.
#include "search/scored_candidates.h"

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

TEST(ScoredCandidates, ScoresEachConfigOnceAndAllNewOnesInOneCall) {
  CountingScore counter;
  const Score score = counter.score();
  const Seen seen;
  ScoredCandidates scored(score, seen, 2, 100);
  EXPECT_THAT(scored.score(std::vector<Point>{at(3), at(5), at(3), at(4)}), ElementsAre(3, 5, 3, 4));
  EXPECT_THAT(scored.score(std::vector<Point>{at(4), at(6)}), ElementsAre(4, 6));
  EXPECT_THAT(scored.score(std::vector<Point>{at(6), at(3)}), ElementsAre(6, 3));
  EXPECT_THAT(counter.asked, ElementsAre(3, 5, 4, 6));
  EXPECT_EQ(counter.calls, 2);
  EXPECT_EQ(scored.scored(), 4U);
}

TEST(ScoredCandidates, KeepsTheBestThatAreNotSeen) {
  CountingScore counter;
  const Score score = counter.score();
  const Seen seen{at(9)};
  ScoredCandidates scored(score, seen, 2, 100);
  scored.score(std::vector<Point>{at(1), at(9), at(2)});
  EXPECT_EQ(scored.changes(), 2U);
  scored.score(std::vector<Point>{at(0)});
  EXPECT_EQ(scored.changes(), 2U);
  scored.score(std::vector<Point>{at(7)});
  EXPECT_EQ(scored.changes(), 3U);
  const auto best = scored.best();
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].point, at(7));
  EXPECT_EQ(best[0].score, 7);
  EXPECT_EQ(best[1].point, at(2));
}

TEST(ScoredCandidates, StopsAtItsBudget) {
  CountingScore counter;
  const Score score = counter.score();
  const Seen seen;
  ScoredCandidates scored(score, seen, 10, 2);
  EXPECT_THAT(scored.score(std::vector<Point>{at(1), at(2), at(3), at(1)}), ElementsAre(1, 2, -kInfinity, 1));
  EXPECT_TRUE(scored.spent());
  EXPECT_THAT(scored.score(std::vector<Point>{at(4), at(2)}), ElementsAre(-kInfinity, 2));
  EXPECT_THAT(counter.asked, ElementsAre(1, 2));
  EXPECT_EQ(scored.best().size(), 2U);
}

TEST(ScoredCandidates, TakesNanAsTheWorst) {
  const Score score = [](std::span<const Point> points) {
    return std::vector<double>(points.size(), std::numeric_limits<double>::quiet_NaN());
  };
  const Seen seen;
  ScoredCandidates scored(score, seen, 2, 10);
  EXPECT_THAT(scored.score(std::vector<Point>{at(1)}), ElementsAre(-kInfinity));
  EXPECT_EQ(scored.spread(), 1);
}

TEST(ScoredCandidates, KnowsTheSpreadOfItsScores) {
  const Seen seen;
  CountingScore counter;
  const Score score = counter.score();
  ScoredCandidates scored(score, seen, 2, 100);
  EXPECT_EQ(scored.spread(), 1);
  scored.score(std::vector<Point>{at(1000), at(1002), at(1004)});
  EXPECT_NEAR(scored.spread(), std::sqrt(8.0 / 3), 1e-12);
  const Score constant = [](std::span<const Point> points) {
    return std::vector<double>(points.size(), 0.1);
  };
  ScoredCandidates flat(constant, seen, 2, 100);
  flat.score(std::vector<Point>{at(1), at(2), at(3)});
  EXPECT_EQ(flat.spread(), 1);
}

TEST(ScoredCandidates, RefusesAScorerThatForgetsConfigs) {
  const Score score = [](std::span<const Point>) { return std::vector<double>{1}; };
  const Seen seen;
  ScoredCandidates scored(score, seen, 2, 10);
  EXPECT_THROW(scored.score(std::vector<Point>{at(1), at(2)}), Error);
}

TEST(ScoredCandidates, MayKeepNothing) {
  CountingScore counter;
  const Score score = counter.score();
  const Seen seen;
  ScoredCandidates scored(score, seen, 0, 10);
  scored.score(std::vector<Point>{at(1)});
  EXPECT_THAT(scored.best(), IsEmpty());
}

}  // namespace
}  // namespace lehr
