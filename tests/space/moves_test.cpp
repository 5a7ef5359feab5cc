// Neighbours, mutation and crossover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <unordered_set>
#include <vector>

#include "space/space.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

using ConfigSet = std::unordered_set<Config, ConfigHash>;

std::size_t first_difference(const Config& a, const Config& b) {
  std::size_t i = 0;
  while (i < a.knobs.size() && a.knobs[i] == b.knobs[i]) ++i;
  return i;
}

// Position of the knob's value among what the knobs before it allow.
std::ptrdiff_t position(const FamilySpace& family, const Config& config, std::size_t knob) {
  const auto values = family.values_of(config);
  const auto allowed = family.values_after(values, knob);
  return std::find(allowed.begin(), allowed.end(), values[knob]) - allowed.begin();
}

TEST(Neighbours, AreValidDistinctAndOneStepAway) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Space space = testing::random_space(seed);
    for (const Config& config : testing::brute_force(space)) {
      const FamilySpace& family = *space.family(config.family);
      ConfigSet found;
      for (const Config& next : space.neighbours(config)) {
        ASSERT_EQ(space.why_invalid(next), std::nullopt) << to_text(next) << ", seed " << seed;
        ASSERT_NE(next, config) << "seed " << seed;
        ASSERT_TRUE(found.insert(next).second) << to_text(next) << " twice, seed " << seed;
        ASSERT_EQ(next.family, config.family);
        const std::size_t knob = first_difference(config, next);
        ASSERT_EQ(std::abs(position(family, next, knob) - position(family, config, knob)), 1)
            << "seed " << seed;
      }
    }
  }
}

TEST(Neighbours, HoldEveryValidOneStepChangeOfAKnob) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Space space = testing::random_space(seed);
    const auto valid = testing::brute_force(space);
    for (const Config& config : valid) {
      const FamilySpace& family = *space.family(config.family);
      const auto near = space.neighbours(config);
      for (const Config& other : valid) {
        if (other.family != config.family || other == config) continue;
        const std::size_t knob = first_difference(config, other);
        Config rest = other;
        rest.knobs[knob].value = config.knobs[knob].value;
        if (rest != config) continue;  // differs in more than one knob
        if (std::abs(position(family, other, knob) - position(family, config, knob)) != 1) continue;
        ASSERT_NE(std::find(near.begin(), near.end(), other), near.end())
            << to_text(other) << " is missing beside " << to_text(config) << ", seed " << seed;
      }
    }
  }
}

TEST(Neighbours, MoveDependentKnobsToTheNearestAllowedValue) {
  const Space space = testing::small_space();
  const auto near = space.neighbours(parse_config("small(tile=8, step=8, vector=4, stages=1, order=1)"));
  EXPECT_THAT(near, ::testing::Contains(parse_config("small(tile=4, step=4, vector=4, stages=1, order=1)")));
  EXPECT_THAT(near, ::testing::Contains(parse_config("small(tile=12, step=6, vector=2, stages=1, order=1)")));
}

TEST(Mutate, ReturnsAValidConfigThatDiffers) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const Space space = testing::random_space(seed);
    Rng rng(seed);
    auto config = space.try_sample(rng);
    for (int i = 0; config && i < 50; ++i) {
      const auto next = space.mutate(*config, rng);
      if (!next) break;
      ASSERT_EQ(space.why_invalid(*next), std::nullopt) << to_text(*next) << ", seed " << seed;
      if (next->family == config->family) {
        ASSERT_NE(*next, *config) << "seed " << seed;
      }
      config = next;
    }
  }
}

TEST(Mutate, TakesOneStepInHalfOfTheMovesAndAnyOtherValueInTheOthers) {
  FamilySpace family("f");
  std::vector<std::int64_t> values;
  for (std::int64_t v = 0; v < 101; ++v) values.push_back(v);
  family.add("a", "", values);
  family.add("fixed", "", {7});
  family.add("b", "", values);
  const Space space({family});
  const Config start = family.config_of(std::vector<std::int64_t>{50, 7, 50});
  Rng rng(11);
  int steps = 0;
  int of_a = 0;
  constexpr int kMoves = 20'000;
  for (int i = 0; i < kMoves; ++i) {
    const Config next = space.mutate(start, rng).value();
    const bool a = next.at("a") != 50;
    ASSERT_NE(a, next.at("b") != 50) << "exactly one knob moves: " << to_text(next);
    of_a += a ? 1 : 0;
    steps += std::abs(next.at(a ? "a" : "b") - 50) == 1 ? 1 : 0;
  }
  EXPECT_NEAR(of_a, kMoves / 2, 300);
  EXPECT_NEAR(steps, kMoves * (0.5 + 0.5 * 0.02),
              300);  // 2 of the 100 other values are one step away as well
}

TEST(Mutate, ReachesEveryValidConfigOfConnectedSpaces) {
  const Space space = testing::small_space();
  Rng rng(2);
  ConfigSet reached;
  Config config = space.sample(rng);
  for (int i = 0; i < 50'000; ++i) {
    config = space.mutate(config, rng).value();
    reached.insert(config);
  }
  EXPECT_EQ(reached.size(), testing::brute_force(space).size());
}

TEST(Mutate, ChangesTheFamilyNowAndThen) {
  const Space space = testing::two_family_space();
  Rng rng(3);
  const Config start = parse_config("many(a=4, b=4, c=4)");
  int changed = 0;
  for (int i = 0; i < 64'000; ++i) changed += space.mutate(start, rng)->family == "few" ? 1 : 0;
  EXPECT_NEAR(changed, 1'000, 130);
}

TEST(Mutate, GivesUpWhereThereIsNoMove) {
  FamilySpace family("f");
  family.add("a", "", {1});
  Rng rng(1);
  EXPECT_EQ(Space({family}).mutate(parse_config("f(a=1)"), rng), std::nullopt);
  const std::size_t b = family.add("b", "", {1, 2, 3});
  family.forbid("only 2 works", [=](const Point& p) { return p[b] != 2; });
  EXPECT_EQ(Space({family}).mutate(parse_config("f(a=1, b=2)"), rng), std::nullopt);
}

TEST(Mutate, TakesFewMicroseconds) {
  const Space space = testing::gemm_like_space();
  Rng rng(9);
  Config config = space.sample(rng);
  constexpr int kMoves = 20'000;
  const std::clock_t start = std::clock();  // of this process alone: others may load the machine
  for (int i = 0; i < kMoves; ++i) {
    if (auto next = space.mutate(config, rng)) config = *std::move(next);
  }
  const double spent_us = 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  // Below 1 us was measured on an optimised build; the limit leaves room for sanitizers.
  EXPECT_LT(spent_us / kMoves, 20);
}

TEST(Crossover, TakesEachKnobFromAParentOrRepairsIt) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const Space space = testing::random_space(seed);
    Rng rng(seed);
    for (int i = 0; i < 20; ++i) {
      const auto a = space.try_sample(rng);
      const auto b = space.try_sample(rng);
      if (!a || !b) break;
      const auto child = space.crossover(*a, *b, rng);
      if (!child) continue;
      ASSERT_EQ(a->family, b->family);
      ASSERT_EQ(space.why_invalid(*child), std::nullopt) << to_text(*child) << ", seed " << seed;
      for (std::size_t k = 0; k < child->knobs.size(); ++k) {
        if (space.family(a->family)->knobs()[k].only) continue;
        const std::int64_t value = child->knobs[k].value;
        ASSERT_TRUE(value == a->knobs[k].value || value == b->knobs[k].value) << "seed " << seed;
      }
    }
  }
}

TEST(Crossover, MixesBothParents) {
  const Space space = testing::two_family_space();
  Rng rng(4);
  ConfigSet children;
  for (int i = 0; i < 500; ++i) {
    children.insert(
        space.crossover(parse_config("many(a=1, b=1, c=1)"), parse_config("many(a=8, b=8, c=6)"), rng)
            .value());
  }
  EXPECT_EQ(children.size(), 8U);
  EXPECT_EQ(space.crossover(parse_config("many(a=1, b=1, c=1)"), parse_config("few(variant=0)"), rng),
            std::nullopt);
}

}  // namespace
}  // namespace lehr
