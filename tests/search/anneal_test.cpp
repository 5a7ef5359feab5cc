// Tests of the annealing strategy as a whole: quality against random search, its short list, budget.
#include "search/anneal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/random.h"
#include "tests/search/landscape.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

using testing::Landscape;

// Returns how many configs were measured until `target` was reached; batches + 1 of them if never.
std::size_t trials_to(const std::vector<double>& curve, double target, std::size_t batch) {
  const auto reached = std::find_if(curve.begin(), curve.end(), [&](double best) { return best >= target; });
  return batch * static_cast<std::size_t>(reached - curve.begin() + 1);
}

TEST(AnnealStrategy, WithAnOracleFindsTheOptimumInFarFewerProposalsThanRandom) {
  const Space space = testing::gemm_like_space();
  constexpr std::size_t kBudget = 5'000;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Landscape landscape{space, seed};
    const double target = 0.95 * testing::reference_optimum(space, landscape);
    AnnealStrategy anneal(space, kBudget);
    RandomStrategy random(space);
    const auto with = testing::tune(anneal, landscape, testing::score_of(landscape), 16, 4, seed);
    const auto without = testing::tune(random, landscape, {}, 16, 100, seed);
    EXPECT_LE(trials_to(with, target, 16), 48U) << "seed " << seed;
    EXPECT_GT(trials_to(without, target, 16), 1'600U) << "seed " << seed;
  }
}

TEST(AnnealStrategy, WithANoisyModelStillBeatsRandomByFar) {
  const Space space = testing::gemm_like_space();
  constexpr std::size_t kBudget = 3'000;
  int wins = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Landscape landscape{space, seed};
    AnnealStrategy anneal(space, kBudget);
    RandomStrategy random(space);
    // An error of 0.3 in the exponent: the model takes many mediocre configs for the best.
    const auto with = testing::tune(anneal, landscape, testing::score_of(landscape, 0.3), 16, 10, seed);
    const auto without = testing::tune(random, landscape, {}, 16, 100, seed);
    wins += with.back() > without.back() ? 1 : 0;  // 160 trials against 1600
  }
  EXPECT_GE(wins, 7);
}

TEST(AnnealStrategy, FindsTheGoodRegionWhereMostConfigsFail) {
  const Space space = testing::gemm_like_space();
  const Landscape landscape{space, 4};
  const double optimum = testing::reference_optimum(space, landscape);
  constexpr std::size_t kBudget = 3'000;
  AnnealStrategy anneal(space, kBudget);
  const double failure_below = 0.2 * optimum;
  const auto curve =
      testing::tune(anneal, landscape, testing::score_of(landscape, 0.2), 32, 8, 5, failure_below);
  EXPECT_GT(curve.back(), 0.9 * optimum);
}

TEST(AnnealStrategy, ScoresASmallSpaceWholeAndTakesItsBest) {
  const Space space = testing::small_space();
  auto all = testing::brute_force(space);
  const Landscape landscape{space, 1};
  AnnealStrategy anneal(space);
  Rng rng(1);
  const Seen seen(all.begin(), all.begin() + 5);
  const auto picks = anneal.propose(10, seen, testing::score_of(landscape), rng);
  EXPECT_EQ(anneal.last_scored(), all.size() - 5);
  all.erase(all.begin(), all.begin() + 5);
  std::sort(all.begin(), all.end(),
            [&](const Point& a, const Point& b) { return landscape(a) > landscape(b); });
  all.resize(10);
  EXPECT_EQ(picks, all);
}

TEST(AnnealStrategy, ListsTheBestWithTheirScoresAndNeighboursOfWhatWasMeasuredAmongThem) {
  const Space space = testing::gemm_like_space();
  const Landscape landscape{space, 2};
  Rng rng(3);
  AnnealStrategy anneal(space, 64);  // so few scores find nothing but the starting points
  const Point measured = space.sample(rng);
  anneal.observe(std::vector<Observed>{{measured, 1.0}});
  const auto near = space.neighbours(measured);
  const Score score = testing::score_of(landscape);
  const std::vector<ScoredPoint> list = anneal.short_list(64, {measured}, score, rng);
  ASSERT_GE(list.size(), 32U);
  std::size_t neighbours = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].score, landscape(list[i].point));
    EXPECT_GE(list[i == 0 ? 0 : i - 1].score, list[i].score);
    neighbours += static_cast<std::size_t>(std::ranges::count(near, list[i].point));
  }
  EXPECT_GE(neighbours, std::min<std::size_t>(32, near.size()));
}

TEST(AnnealStrategy, KeepsToItsBudgetAndScoresNothingTwice) {
  const Space space = testing::gemm_like_space();
  for (const std::size_t budget : {100U, 1'000U, 4'000U}) {
    AnnealStrategy anneal(space, budget);
    Rng rng(1);
    Seen seen;
    for (int round = 0; round < 3; ++round) {
      Seen scored;
      const Score score = [&](std::span<const Point> points) {
        for (const Point& point : points)
          EXPECT_TRUE(scored.insert(point).second) << to_text(space.config_of(point));
        return testing::score_of(Landscape{space})(points);
      };
      const auto picks = anneal.propose(16, seen, score, rng);
      EXPECT_LE(scored.size(), budget);
      EXPECT_EQ(anneal.last_scored(), scored.size());
      std::vector<Observed> results;
      for (const Point& point : picks) results.push_back({point, Landscape{space}(point)});
      seen.insert(picks.begin(), picks.end());
      anneal.observe(results);
    }
  }
}

}  // namespace
}  // namespace lehr
