// The annealing strategy as a whole: quality against random search, shares of the batch, budget.
#include "search/anneal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/random.h"
#include "tests/search/landscape.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

using testing::Landscape;

// Configs measured until `target` was reached; batches + 1 of them if never.
std::size_t trials_to(const std::vector<double>& curve, double target, std::size_t batch) {
  const auto reached = std::find_if(curve.begin(), curve.end(), [&](double best) { return best >= target; });
  return batch * static_cast<std::size_t>(reached - curve.begin() + 1);
}

// The best config of several climbs.
Point climb(const Space& space, const Landscape& landscape, Rng& rng) {
  Point best = space.sample(rng);
  for (int start = 0; start < 6; ++start) {
    Point point = space.sample(rng);
    for (int i = 0; i < 3'000; ++i) {
      const auto next = space.mutate(point, rng);
      if (next && landscape(*next) > landscape(point)) point = *next;
    }
    if (landscape(point) > landscape(best)) best = point;
  }
  return best;
}

TEST(AnnealStrategy, WithAnOracleFindsTheOptimumInFarFewerProposalsThanRandom) {
  const Space space = testing::gemm_like_space();
  AnnealOptions options;
  options.max_scored = 5'000;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Landscape landscape{space, seed};
    const double target = 0.95 * testing::reference_optimum(space, landscape);
    AnnealStrategy anneal(space, options);
    RandomStrategy random(space);
    const auto with = testing::tune(anneal, landscape, testing::score_of(landscape), 16, 4, seed);
    const auto without = testing::tune(random, landscape, {}, 16, 100, seed);
    EXPECT_LE(trials_to(with, target, 16), 48U) << "seed " << seed;
    EXPECT_GT(trials_to(without, target, 16), 1'600U) << "seed " << seed;
  }
}

TEST(AnnealStrategy, WithANoisyModelStillBeatsRandomByFar) {
  const Space space = testing::gemm_like_space();
  AnnealOptions options;
  options.max_scored = 3'000;
  int wins = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Landscape landscape{space, seed};
    AnnealStrategy anneal(space, options);
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
  AnnealOptions options;
  options.max_scored = 3'000;
  AnnealStrategy anneal(space, options);
  const double failure_below = 0.2 * optimum;
  const auto curve =
      testing::tune(anneal, landscape, testing::score_of(landscape, 0.2), 32, 8, 5, failure_below);
  EXPECT_GT(curve.back(), 0.9 * optimum);
}

TEST(AnnealStrategy, ScoresASmallSpaceWholeAndTakesItsBest) {
  const Space space = testing::small_space();
  auto all = testing::brute_force(space);
  const Landscape landscape{space, 1};
  AnnealOptions options;
  options.alpha = 0;
  options.epsilon = {0, 0, 0};
  AnnealStrategy anneal(space, options);
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

TEST(AnnealStrategy, LetsTheChooserDecideAmongTheBest) {
  const Space space = testing::small_space();
  auto all = testing::brute_force(space);
  const Landscape landscape{space, 1};
  AnnealOptions options;
  options.epsilon = {0, 0, 0};
  options.short_list = 12;
  AnnealStrategy anneal(space, options);
  Rng rng(1);
  std::vector<Point> offered;
  anneal.choose_by([&](std::span<const ScoredPoint> candidates, std::size_t n) {
    EXPECT_EQ(n, 3U);
    for (const ScoredPoint& each : candidates) {
      EXPECT_EQ(each.score, landscape(each.point));
      offered.push_back(each.point);
    }
    return std::vector<std::size_t>{7, 2, 11};
  });
  const auto picks = anneal.propose(3, {}, testing::score_of(landscape), rng);
  std::ranges::sort(all, std::greater(), [&](const Point& point) { return landscape(point); });
  all.resize(12);
  EXPECT_EQ(offered, all);
  EXPECT_EQ(picks, (std::vector<Point>{all[7], all[2], all[11]}));
  anneal.choose_by({});
  EXPECT_EQ(anneal.propose(3, {}, testing::score_of(landscape), rng).size(), 3U);
}

TEST(AnnealStrategy, KeepsToItsBudgetAndScoresNothingTwice) {
  const Space space = testing::gemm_like_space();
  for (const std::size_t budget : {100U, 1'000U, 4'000U}) {
    AnnealOptions options;
    options.max_scored = budget;
    AnnealStrategy anneal(space, options);
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

TEST(AnnealStrategy, TakesItsShareOfNeighboursOfTheBestMeasured) {
  const Space space = testing::gemm_like_space();
  AnnealOptions options;
  options.max_scored = 2'000;
  options.local_parents = 1;
  // The model loves what is far from the best measured config, so neighbours come from the share alone.
  const Landscape landscape{space, 2};
  const Score misled = [&](std::span<const Point> points) {
    std::vector<double> scores;
    for (const Point& point : points) scores.push_back(-landscape(point));
    return scores;
  };
  Rng rng(3);
  const Point best = climb(space, landscape, rng);
  const auto near = space.neighbours(best);
  for (const bool with_model : {true, false}) {
    AnnealStrategy anneal(space, options);
    anneal.observe(std::vector<Observed>{{best, 0.9}, {space.sample(rng), 0.1}});
    const auto picks = anneal.propose(32, {best}, with_model ? misled : Score(), rng);
    const auto count = std::count_if(picks.begin(), picks.end(), [&](const Point& pick) {
      return std::find(near.begin(), near.end(), pick) != near.end();
    });
    EXPECT_EQ(count, 8) << "with a model: " << with_model;
  }
}

TEST(AnnealStrategy, PutsTheMostWantedFirstAndTheRandomShareLast) {
  const Space space = testing::gemm_like_space();
  const Landscape landscape{space, 6};
  AnnealOptions options;
  options.max_scored = 4'000;
  options.epsilon = {0.25, 0.25, 0};
  AnnealStrategy anneal(space, options);
  Rng rng(2);
  // Some neighbours of a good config are better than some of what annealing adds.
  anneal.observe(std::vector<Observed>{{climb(space, landscape, rng), 0.9}});
  const auto picks = anneal.propose(32, {}, testing::score_of(landscape), rng);
  ASSERT_EQ(picks.size(), 32U);
  for (std::size_t i = 1; i < 24; ++i) EXPECT_GE(landscape(picks[i - 1]), landscape(picks[i])) << i;
  for (std::size_t i = 24; i < 32; ++i)
    EXPECT_LT(landscape(picks[i]), landscape(picks[12])) << "not random: " << i;
}

TEST(AnnealStrategy, WithEqualScoresCoversManyValues) {
  const Space space = testing::gemm_like_space();
  const Score constant = [](std::span<const Point> points) {
    return std::vector<double>(points.size(), 1.0);
  };
  AnnealStrategy anneal(space);
  Rng rng(2);
  const auto picks = anneal.propose(16, {}, constant, rng);
  std::size_t covered = 0;
  std::size_t values = 0;
  const FamilySpace& family = space.families()[0];
  for (std::size_t k = 0; k < family.knobs().size(); ++k) {
    std::set<std::uint16_t> found;
    for (const Point& pick : picks) found.insert(pick.knobs[k]);
    covered += found.size();
    values += family.knobs()[k].values.size();
  }
  EXPECT_GE(covered, values - 3);
}

}  // namespace
}  // namespace lehr
