// The annealing chains alone.
#include "search/chains.h"

#include <gtest/gtest.h>

#include "tests/search/landscape.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

using testing::Landscape;

TEST(Chains, FindTheOptimumRegionOfALargeSpace) {
  const Space space = testing::gemm_like_space();
  const Seen seen;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Landscape landscape{space, seed};
    const Score score = testing::score_of(landscape);
    Rng rng(seed);
    ScoredCandidates scored(score, seen, 16, 8'000);
    Chains chains;
    chains.run(space, {}, scored, rng);
    const double optimum = testing::reference_optimum(space, landscape);
    EXPECT_GT(scored.best().front().score, 0.97 * optimum) << "seed " << seed;

    double random = 0;
    for (std::size_t i = 0; i < scored.scored(); ++i) random = std::max(random, landscape(space.sample(rng)));
    EXPECT_LT(random, 0.9 * optimum) << "the landscape is too easy to tell; seed " << seed;
  }
}

TEST(Chains, StopEarlyWhenTheBestSetNoLongerChanges) {
  const Space space = testing::gemm_like_space();
  const Seen seen;
  const Score score = [](std::span<const Point> points) { return std::vector<double>(points.size(), 2.5); };
  Rng rng(1);
  ScoredCandidates scored(score, seen, 64, 100'000);
  Chains().run(space, {}, scored, rng);
  EXPECT_LE(scored.scored(), Chains::kMost * (1 + 50));
}

TEST(Chains, UseFewerChainsForASmallBudget) {
  const Space space = testing::gemm_like_space();
  const Seen seen;
  const Score score = testing::score_of(Landscape{space});
  const auto chains_for = [&](std::size_t budget) {
    Rng rng(1);
    ScoredCandidates scored(score, seen, 8, budget);
    Chains chains;
    chains.run(space, {}, scored, rng);
    EXPECT_LE(scored.scored(), budget);
    return chains.states().size();
  };
  EXPECT_EQ(chains_for(20'000), 128U);
  EXPECT_EQ(chains_for(6'000), 40U);
  EXPECT_EQ(chains_for(500), 16U);
  EXPECT_EQ(chains_for(5), 16U);
}

TEST(Chains, PersistAndReplaceTheWorstByTheSeeds) {
  const Space space = testing::gemm_like_space();
  const Seen seen;
  const Landscape landscape{space, 3};
  const Score score = testing::score_of(landscape);
  Rng rng(3);
  Chains chains;
  const Point seed = space.sample(rng);
  ScoredCandidates first(score, seen, 8, 16);  // only a start: the budget is spent by it
  chains.run(space, std::vector<Point>{seed}, first, rng);
  ASSERT_EQ(chains.states().size(), 16U);
  EXPECT_EQ(chains.states()[0], seed);

  const std::vector<Point> before = chains.states();
  std::vector<double> scores;
  for (const Point& point : before) scores.push_back(landscape(point));
  const auto order = top_k(scores, scores.size());
  const Point other = space.sample(rng);
  ScoredCandidates second(score, seen, 8, 20);  // only a restart of four
  chains.run(space, std::vector<Point>{other}, second, rng);
  for (std::size_t rank = 0; rank < 12; ++rank) EXPECT_EQ(chains.states()[order[rank]], before[order[rank]]);
  for (std::size_t rank = 12; rank < 16; ++rank) EXPECT_NE(chains.states()[order[rank]], before[order[rank]]);
  EXPECT_EQ(chains.states()[order[15]], other);
}

TEST(Chains, DoNothingInAnEmptySpace) {
  const Space space({});
  const Seen seen;
  const Score score = testing::score_of(Landscape{space});
  Rng rng(1);
  ScoredCandidates scored(score, seen, 8, 100);
  Chains chains;
  chains.run(space, {}, scored, rng);
  EXPECT_EQ(scored.scored(), 0U);
}

}  // namespace
}  // namespace lehr
