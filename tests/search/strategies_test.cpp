// Tests of the properties that every strategy has, whatever its method.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <unordered_set>

#include "base/error.h"
#include "search/anneal.h"
#include "search/make_strategy.h"
#include "tests/search/landscape.h"
#include "tests/search/one_knob.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

using lehr::testing::kInfinity;
using testing::Landscape;

class EachStrategy : public ::testing::TestWithParam<std::string> {
 protected:
  // Small budgets keep the property tests quick.
  std::unique_ptr<Strategy> make(const Space& space) const {
    if (GetParam() == "anneal") return std::make_unique<AnnealStrategy>(space, 600);
    return make_strategy(GetParam(), space);
  }
};

INSTANTIATE_TEST_SUITE_P(Strategies, EachStrategy, ::testing::ValuesIn(strategy_names()),
                         [](const auto& info) { return info.param; });

void check_proposal(const Space& space, const std::vector<Point>& picks, const Seen& seen, std::size_t n) {
  ASSERT_LE(picks.size(), n);
  Seen distinct;
  for (const Point& point : picks) {
    ASSERT_EQ(space.why_invalid(space.config_of(point)), std::nullopt) << to_text(space.config_of(point));
    ASSERT_FALSE(seen.contains(point)) << to_text(space.config_of(point)) << " was seen";
    ASSERT_TRUE(distinct.insert(point).second) << to_text(space.config_of(point)) << " twice";
  }
}

TEST_P(EachStrategy, ProposesEachValidConfigOnceAndThenNothing) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Space space = testing::random_space(seed);
    const std::size_t size = testing::brute_force(space).size();
    if (size > 600) continue;
    const auto strategy = make(space);
    const Landscape landscape{space, seed};
    Rng rng(seed);
    Seen seen;
    for (std::size_t round = 0;; ++round) {
      const std::size_t n = 1 + rng.below(40);
      const Score score = rng.below(3) == 0 ? Score() : testing::score_of(landscape);
      const auto picks = strategy->propose(n, seen, score, rng);
      ASSERT_NO_FATAL_FAILURE(check_proposal(space, picks, seen, n));
      ASSERT_EQ(picks.size(), std::min(n, size - seen.size())) << "round " << round;
      if (picks.empty()) break;
      std::vector<Observed> results;
      for (const Point& point : picks) {
        seen.insert(point);
        results.push_back({point, landscape(point)});
        if (rng.below(4) == 0) results.back().fitness.reset();
      }
      strategy->observe(results);
    }
    EXPECT_EQ(seen.size(), size);
  }
}

TEST_P(EachStrategy, FillsItsBatchesInALargeSpace) {
  const Space space = testing::gemm_like_space();
  const auto strategy = make(space);
  const Landscape landscape{space, 1};
  Rng rng(1);
  Seen seen;
  for (int round = 0; round < 6; ++round) {
    const auto picks = strategy->propose(64, seen, round == 0 ? Score() : testing::score_of(landscape), rng);
    ASSERT_EQ(picks.size(), 64U);
    ASSERT_NO_FATAL_FAILURE(check_proposal(space, picks, seen, 64));
    std::vector<Observed> results;
    for (const Point& point : picks) results.push_back({point, landscape(point)});
    seen.insert(picks.begin(), picks.end());
    strategy->observe(results);
  }
}

TEST_P(EachStrategy, RepeatsItselfWithTheSameSeed) {
  const Space space = testing::gemm_like_space();
  const auto run = [&](std::uint64_t seed) {
    const auto strategy = make(space);
    const Landscape landscape{space, 2};
    Rng rng(seed);
    Seen seen;
    std::vector<Point> all;
    for (int round = 0; round < 4; ++round) {
      std::vector<Observed> results;
      const auto picks =
          strategy->propose(24, seen, round == 0 ? Score() : testing::score_of(landscape), rng);
      for (const Point& point : picks) results.push_back({point, landscape(point)});
      seen.insert(picks.begin(), picks.end());
      all.insert(all.end(), picks.begin(), picks.end());
      strategy->observe(results);
    }
    return all;
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

TEST_P(EachStrategy, GoesOnAfterNothingButFailures) {
  const Space space = testing::gemm_like_space();
  const auto strategy = make(space);
  Rng rng(4);
  Seen seen;
  for (int round = 0; round < 5; ++round) {
    const auto picks =
        strategy->propose(32, seen, round < 3 ? Score() : testing::score_of(Landscape{space}), rng);
    ASSERT_EQ(picks.size(), 32U);
    ASSERT_NO_FATAL_FAILURE(check_proposal(space, picks, seen, 32));
    std::vector<Observed> results;
    for (const Point& point : picks) results.push_back({point, std::nullopt});
    seen.insert(picks.begin(), picks.end());
    strategy->observe(results);
  }
}

TEST_P(EachStrategy, ProposesNothingForZeroAndForAnEmptySpace) {
  const Space space = testing::small_space();
  const Space empty({});
  Rng rng(1);
  for (const Score& score : {Score(), testing::score_of(Landscape{space})}) {
    EXPECT_TRUE(make(space)->propose(0, {}, score, rng).empty());
    EXPECT_TRUE(make(empty)->propose(8, {}, score, rng).empty());
  }
}

TEST_P(EachStrategy, TakesAnyScores) {
  const Space space = testing::gemm_like_space();
  const auto stages = [&](const Point& point) { return space.config_of(point).at("stages"); };
  using Value = std::function<double(const Point&)>;
  const std::vector<Value> values{
      [](const Point&) { return 0.0; },
      [](const Point&) { return -5.0; },
      [&](const Point& point) { return stages(point) < 3 ? -1.0 : -2.0; },
      [](const Point&) { return std::nan(""); },
      [](const Point&) { return -kInfinity; },
      [&](const Point& point) { return stages(point) == 2 ? kInfinity : -kInfinity; },
      [&](const Point& point) { return 1e300 * static_cast<double>(stages(point)); },
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    SCOPED_TRACE(i);
    const Score score = [&](std::span<const Point> points) {
      std::vector<double> scores;
      for (const Point& point : points) scores.push_back(values[i](point));
      return scores;
    };
    const auto strategy = make(space);
    Rng rng(i);
    Seen seen;
    for (int round = 0; round < 3; ++round) {
      const auto picks = strategy->propose(16, seen, score, rng);
      ASSERT_EQ(picks.size(), 16U);
      ASSERT_NO_FATAL_FAILURE(check_proposal(space, picks, seen, 16));
      std::vector<Observed> results;
      for (const Point& point : picks) results.push_back({point, 0.5});
      seen.insert(picks.begin(), picks.end());
      strategy->observe(results);
    }
  }
}

TEST(MakeStrategy, RefusesAnUnknownNameAndListsTheKnown) {
  const Space space = testing::small_space();
  try {
    make_strategy("anneel", space);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("\"anneel\""));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("anneal, random, autotvm"));
  }
}

}  // namespace
}  // namespace lehr
