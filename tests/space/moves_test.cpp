// Neighbours and mutation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "space/space.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

using PointSet = std::unordered_set<Point, PointHash>;

std::size_t first_difference(const Point& a, const Point& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a.knobs, b.knobs).in1 - a.knobs.begin());
}

// Returns the position of the knob's value among the values that the knobs before it allow.
std::ptrdiff_t position(const FamilySpace& family, const Point& point, std::size_t knob) {
  const auto allowed = family.choices(point, knob);
  return std::ranges::find(allowed, point.knobs[knob]) - allowed.begin();
}

TEST(Neighbours, AreValidDistinctAndOneStepAway) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Space space = testing::random_space(seed);
    for (const Point& point : testing::brute_force(space)) {
      const FamilySpace& family = space.families()[point.family];
      PointSet found;
      for (const Point& next : space.neighbours(point)) {
        ASSERT_EQ(space.why_invalid(space.config_of(next)), std::nullopt)
            << to_text(space.config_of(next)) << ", seed " << seed;
        ASSERT_NE(next, point) << "seed " << seed;
        ASSERT_TRUE(found.insert(next).second) << to_text(space.config_of(next)) << " twice, seed " << seed;
        ASSERT_EQ(next.family, point.family);
        const std::size_t knob = first_difference(point, next);
        ASSERT_EQ(std::abs(position(family, next, knob) - position(family, point, knob)), 1)
            << "seed " << seed;
      }
    }
  }
}

TEST(Neighbours, HoldEveryValidOneStepChangeOfAKnob) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Space space = testing::random_space(seed);
    const auto valid = testing::brute_force(space);
    for (const Point& point : valid) {
      const FamilySpace& family = space.families()[point.family];
      const auto near = space.neighbours(point);
      for (const Point& other : valid) {
        if (other.family != point.family || other == point) continue;
        const std::size_t knob = first_difference(point, other);
        Point rest = other;
        rest.knobs[knob] = point.knobs[knob];
        if (rest != point) continue;  // differs in more than one knob
        if (std::abs(position(family, other, knob) - position(family, point, knob)) != 1) continue;
        ASSERT_NE(std::find(near.begin(), near.end(), other), near.end())
            << to_text(space.config_of(other)) << " is missing beside " << to_text(space.config_of(point))
            << ", seed " << seed;
      }
    }
  }
}

TEST(Neighbours, MoveDependentKnobsToTheNearestAllowedValue) {
  const Space space = testing::small_space();
  const auto near =
      space.neighbours(space.point_of(parse_config("small(tile=8, step=8, vector=4, stages=1, order=1)")));
  EXPECT_THAT(near, ::testing::Contains(
                        space.point_of(parse_config("small(tile=4, step=4, vector=4, stages=1, order=1)"))));
  EXPECT_THAT(near, ::testing::Contains(
                        space.point_of(parse_config("small(tile=12, step=6, vector=2, stages=1, order=1)"))));
}

TEST(Mutate, ReturnsAValidConfigThatDiffers) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const Space space = testing::random_space(seed);
    Rng rng(seed);
    auto point = space.try_sample(rng);
    for (int i = 0; point && i < 50; ++i) {
      const auto next = space.mutate(*point, rng);
      if (!next) break;
      ASSERT_EQ(space.why_invalid(space.config_of(*next)), std::nullopt)
          << to_text(space.config_of(*next)) << ", seed " << seed;
      if (next->family == point->family) {
        ASSERT_NE(*next, *point) << "seed " << seed;
      }
      point = next;
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
  const Point start = {0, {50, 0, 50}};
  Rng rng(11);
  int steps = 0;
  int of_a = 0;
  constexpr int kMoves = 20'000;
  for (int i = 0; i < kMoves; ++i) {
    const Point next = space.mutate(start, rng).value();
    const bool a = next.knobs[0] != 50;
    ASSERT_NE(a, next.knobs[2] != 50) << "exactly one knob moves: " << to_text(space.config_of(next));
    of_a += a ? 1 : 0;
    steps += std::abs(next.knobs[a ? 0 : 2] - 50) == 1 ? 1 : 0;
  }
  EXPECT_NEAR(of_a, kMoves / 2, 300);
  EXPECT_NEAR(steps, kMoves * (0.5 + 0.5 * 0.02),
              300);  // 2 of the 100 other values are one step away as well
}

TEST(Mutate, ReachesEveryValidConfigOfConnectedSpaces) {
  const Space space = testing::small_space();
  Rng rng(2);
  PointSet reached;
  Point point = space.sample(rng);
  for (int i = 0; i < 50'000; ++i) {
    point = space.mutate(point, rng).value();
    reached.insert(point);
  }
  EXPECT_EQ(reached.size(), testing::brute_force(space).size());
}

TEST(Mutate, ChangesTheFamilyNowAndThen) {
  const Space space = testing::two_family_space();
  Rng rng(3);
  const Point start = space.point_of(parse_config("many(a=4, b=4, c=4)"));
  int changed = 0;
  for (int i = 0; i < 64'000; ++i) changed += space.mutate(start, rng)->family == 0 ? 1 : 0;
  EXPECT_NEAR(changed, 1'000, 130);
}

TEST(Mutate, GivesUpWhereThereIsNoMove) {
  FamilySpace family("f");
  family.add("a", "", {1});
  Rng rng(1);
  EXPECT_EQ(Space({family}).mutate({}, rng), std::nullopt);
  const std::size_t b = family.add("b", "", {1, 2, 3});
  family.forbid("only 2 works", [=](const Members& p) { return p[b] != 2; });
  EXPECT_EQ(Space({family}).mutate({0, {0, 1}}, rng), std::nullopt);
}

TEST(Mutate, AsksFewRules) {
  std::int64_t asked = 0;
  const Space space = testing::gemm_like_space(&asked);
  Rng rng(9);
  Point point = space.sample(rng);
  constexpr int kMoves = 20'000;
  asked = 0;
  for (int i = 0; i < kMoves; ++i) {
    if (auto next = space.mutate(point, rng)) point = *std::move(next);
  }
  EXPECT_GT(asked, 0);
  EXPECT_LT(asked, 4 * kMoves);
}

}  // namespace
}  // namespace lehr
