// Spread-out random configs.
#include "search/spread.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "search/fill.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

double smallest_distance(const Space& space, const std::vector<Point>& points) {
  double smallest = 1;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      smallest = std::min(smallest, knob_distance(space, points[i], points[j]));
    }
  }
  return smallest;
}

TEST(KnobDistance, CountsKnobsAndSteps) {
  const Space space = testing::two_family_space();
  const auto distance = [&](std::string_view a, std::string_view b) {
    return knob_distance(space, space.point_of(parse_config(a)), space.point_of(parse_config(b)));
  };
  EXPECT_EQ(distance("many(a=1, b=1, c=1)", "many(a=1, b=1, c=1)"), 0);
  EXPECT_EQ(distance("many(a=1, b=1, c=1)", "many(a=8, b=8, c=6)"), 1);
  EXPECT_NEAR(distance("many(a=1, b=1, c=1)", "many(a=1, b=1, c=2)"), 0.2, 1e-6);
  EXPECT_LT(distance("many(a=1, b=1, c=1)", "many(a=2, b=1, c=1)"),
            distance("many(a=1, b=1, c=1)", "many(a=5, b=1, c=1)"));
  EXPECT_EQ(distance("many(a=1, b=1, c=1)", "few(variant=0)"), 1);
}

TEST(AddSpread, KeepsConfigsFartherApartThanChance) {
  const Space space = testing::gemm_like_space();
  const Seen seen;
  double spread = 0;
  double chance = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Rng rng(seed);
    Batch far(32, seen);
    add_spread(space, 32, 8, {}, far, rng);
    Batch random(32, seen);
    add_random(space, 32, random, rng);
    ASSERT_EQ(far.size(), 32U);
    spread += smallest_distance(space, far.picks());
    chance += smallest_distance(space, random.picks());
  }
  EXPECT_GT(spread, 1.2 * chance);
}

TEST(AddSpread, KeepsAwayFromWhatWasMeasured) {
  FamilySpace family("f");
  family.add("x", "", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Space space({family});
  const Seen seen;
  const std::vector<Point> others{space.point_of(parse_config("f(x=0)")),
                                  space.point_of(parse_config("f(x=2)"))};
  Rng rng(1);
  Batch batch(1, seen);
  add_spread(space, 1, 500, others, batch, rng);
  EXPECT_EQ(space.config_of(batch.picks().at(0)), parse_config("f(x=10)"));
}

TEST(AddRandom, FindsTheLastConfigsOfALargeSeenSpace) {
  const Space space = testing::two_family_space();
  Seen seen;
  const Point last = space.point_of(parse_config("many(a=5, b=4, c=3)"));
  for (const Point& point : testing::brute_force(space)) {
    if (point != last) seen.insert(point);
  }
  Rng rng(1);
  Batch batch(8, seen);
  EXPECT_EQ(add_random(space, 8, batch, rng), 1U);
  EXPECT_EQ(batch.picks().at(0), last);
  EXPECT_EQ(add_random(space, 8, batch, rng), 0U);
}

TEST(AddRandom, FindsWhatSamplingCannotHit) {
  FamilySpace family("needle");
  std::vector<std::int64_t> values;
  for (std::int64_t v = 0; v < 1000; ++v) values.push_back(v);
  const std::size_t a = family.add("a", "", values);
  family.forbid("a is not 700", [=](const Members& p) { return p[a] != 700; });
  const std::size_t b = family.add("b", "", values);
  family.forbid("b is not 3", [=](const Members& p) { return p[b] != 3; });
  const std::size_t c = family.add("c", "", values);
  family.forbid("c is not 999", [=](const Members& p) { return p[c] != 999; });
  const Space space({family});
  const Seen seen;
  Rng rng(1);
  Batch batch(4, seen);
  EXPECT_EQ(add_random(space, 4, batch, rng), 1U);
  EXPECT_EQ(to_text(space.config_of(batch.picks().at(0))), "needle(a=700, b=3, c=999)");
}

}  // namespace
}  // namespace lehr
