// Tests that the grid cursor visits all valid configs, once.
#include <gtest/gtest.h>

#include <vector>

#include "space/space.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

std::vector<Point> walk(const Space& space) {
  std::vector<Point> found;
  GridCursor cursor(space);
  while (const auto point = cursor.next()) found.push_back(*point);
  EXPECT_EQ(cursor.next(), std::nullopt) << "the end is not final";
  return found;
}

TEST(GridCursor, VisitsEachValidConfigOnceInOrder) {
  EXPECT_EQ(walk(testing::small_space()), testing::brute_force(testing::small_space()));
  EXPECT_EQ(walk(testing::two_family_space()), testing::brute_force(testing::two_family_space()));
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Space space = testing::random_space(seed);
    EXPECT_EQ(walk(space), testing::brute_force(space)) << "seed " << seed;
  }
}

TEST(GridCursor, TakesAFamilyWithoutKnobsAsOneConfig) {
  FamilySpace other("other");
  other.add("k", "", {1, 2});
  const Space space({FamilySpace("bare"), other});
  const auto found = walk(space);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(to_text(space.config_of(found[0])), "bare()");
  EXPECT_EQ(to_text(space.config_of(found[2])), "other(k=2)");
  EXPECT_TRUE(walk(Space({})).empty());
}

TEST(GridCursor, LeavesASubtreeAtItsFirstBrokenRule) {
  FamilySpace family("deep");
  std::vector<std::int64_t> values;
  for (std::int64_t v = 0; v < 100; ++v) values.push_back(v);
  const std::size_t first = family.add("first", "", values);
  int calls = 0;
  family.forbid("only 99 works", [&, first](const Members& p) {
    ++calls;
    return p[first] != 99;
  });
  for (int i = 0; i < 8; ++i) family.add("k" + std::to_string(i), "", values);
  const Space space({family});
  calls = 0;
  GridCursor cursor(space);
  EXPECT_EQ(cursor.next(), (Point{0, {99}}));  // of 1e18 points
  EXPECT_EQ(calls, 100);
}

}  // namespace
}  // namespace lehr
