// Tests that a family that is a list behaves like any other.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "space/space.h"

namespace lehr {
namespace {

std::vector<std::vector<std::int64_t>> some_points(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  std::vector<std::vector<std::int64_t>> points;
  for (std::size_t i = 0; i < count; ++i)
    points.push_back({static_cast<std::int64_t>(rng.below(6)), static_cast<std::int64_t>(1) << rng.below(5),
                      static_cast<std::int64_t>(rng.below(3)) - 1});
  return points;
}

TEST(ListedFamily, HoldsExactlyItsPoints) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto points = some_points(seed, 1 + seed);
    const std::set<std::vector<std::int64_t>> distinct(points.begin(), points.end());
    const Space space({listed_family("t", {"a", "b", "c"}, points)});
    const FamilySpace& family = space.families()[0];
    EXPECT_EQ(family.product_size(), static_cast<double>(distinct.size()));
    const auto values_of = [&](const Point& point) {
      std::vector<std::int64_t> values;
      for (const KnobValue& knob : space.config_of(point).knobs) values.push_back(knob.value);
      return values;
    };
    std::set<std::vector<std::int64_t>> walked, sampled;
    GridCursor cursor(space);
    while (const auto point = cursor.next()) EXPECT_TRUE(walked.insert(values_of(*point)).second);
    EXPECT_EQ(walked, distinct);
    Rng rng(seed);
    for (int i = 0; i < 1000; ++i) {
      const Point point = space.sample(rng);
      ASSERT_TRUE(distinct.contains(values_of(point)));
      sampled.insert(values_of(point));
      const auto moved = space.mutate(point, rng);
      if (moved) {
        ASSERT_TRUE(distinct.contains(values_of(*moved)));
      }
      for (const Point& near : space.neighbours(point)) ASSERT_TRUE(distinct.contains(values_of(near)));
    }
    EXPECT_EQ(sampled, distinct);
  }
}

TEST(ListedFamily, RefusesWhatIsNotInTheList) {
  const Space space({listed_family("t", {"a", "b"}, {{1, 2}, {3, 4}})});
  EXPECT_TRUE(space.contains(parse_config("t(a=1, b=2)")));
  EXPECT_FALSE(space.contains(parse_config("t(a=1, b=4)")));
  EXPECT_FALSE(space.contains(parse_config("t(a=2, b=2)")));
  EXPECT_THROW(listed_family("t", {"a"}, {}), Error);
  EXPECT_THROW(listed_family("t", {"a"}, {{1, 2}}), Error);
}

}  // namespace
}  // namespace lehr
