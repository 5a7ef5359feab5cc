// Tests of building a family's space and judging configs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "space/space.h"
#include "tests/space/spaces.h"

namespace lehr {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string why(const Space& space, std::string_view text) {
  return space.why_invalid(parse_config(text)).value_or("valid");
}

TEST(FamilySpace, RefusesBadKnobs) {
  FamilySpace family("f");
  EXPECT_THROW(family.only([](const Members&) { return true; }), Error);
  EXPECT_THROW(family.forbid("", [](const Members&) { return true; }), Error);
  family.add("a", "", {1, 2});
  EXPECT_THROW(family.add("a", "", {1}), Error);
  EXPECT_THROW(family.add("b", "", {}), Error);
  EXPECT_THROW(family.add("b", "", {1, 2, 1}), Error);
  EXPECT_THROW(family.add("b c", "", {1}), Error);
  EXPECT_THROW(family.add("", "", {1}), Error);
  EXPECT_THROW(family.knob(0, "b", "", {1}), Error);
  EXPECT_THROW(family.knob(99, "b", "", {1}), Error);
  EXPECT_THROW(family.only(nullptr), Error);
  EXPECT_THROW(family.forbid("", nullptr), Error);
  EXPECT_THROW(FamilySpace("no(good"), Error);
  EXPECT_EQ(family.knobs().size(), 1U);
}

TEST(FamilySpace, ContainsTheValuesOfItsConfigsAndNoOthers) {
  FamilySpace family("f");
  const std::size_t a = family.add("a", "", {1, 2, 3}), b = family.add("b", "", {1, 2, 3});
  family.only([=](const Members& p) { return p[a] % p[b] == 0; });
  const std::size_t c = family.add("c", "", {1, 2});
  family.forbid("", [=](const Members& p) { return p[a] + p[c] >= 5; });
  int inside = 0;
  for (std::uint16_t x = 0; x < 3; ++x)
    for (std::uint16_t y = 0; y < 3; ++y)
      for (std::uint16_t z = 0; z < 2; ++z) {
        const Point point = {0, {x, y, z}};
        EXPECT_EQ(family.contains(point), !family.why_invalid(family.config_of(point))) << x << y << z;
        inside += family.contains(point);
      }
  EXPECT_EQ(inside, 1 * 2 + 2 * 2 + 2 * 1);
}

TEST(FamilySpace, AsksARuleAfterTheKnobThatItFollows) {
  FamilySpace family("f");
  const std::size_t a = family.add("a", "", {1, 2});
  family.add("b", "", {1, 2});
  const std::size_t c = family.add("c", "", {1, 2});
  family.forbid("a and c are equal", [=](const Members& p) { return p[a] == p[c]; });
  EXPECT_TRUE(family.allows({0, {0}}, 0));
  EXPECT_TRUE(family.allows({0, {0, 0, 0}}, 1));
  EXPECT_FALSE(family.allows({0, {0, 0, 0}}, 2));
  EXPECT_TRUE(family.allows({0, {0, 0, 1}}, 2));
  EXPECT_FALSE(family.allows({0, {1, 0, 1}}, 2));
}

TEST(WhyInvalid, NamesTheKnobOrSaysTheRule) {
  const Space space = testing::small_space();
  EXPECT_EQ(why(space, "small(tile=8, step=4, vector=2, stages=3, order=1)"), "valid");
  EXPECT_THAT(why(space, "other(tile=8)"), AllOf(HasSubstr("other"), HasSubstr("small")));
  EXPECT_THAT(why(space, "small(tile=5, step=1, vector=1, stages=1, order=0)"),
              HasSubstr("tile=5 is not one of 1, 2, 4, 8, 12"));
  EXPECT_THAT(why(space, "small(tile=8, step=6, vector=2, stages=3, order=0)"),
              AllOf(HasSubstr("step=6 does not go"), HasSubstr("1, 2, 4, 8")));
  EXPECT_THAT(why(space, "small(tile=12, step=3, vector=1, stages=1, order=0)"),
              HasSubstr("vector has no allowed value"));
  EXPECT_THAT(why(space, "small(tile=12, step=4, vector=2, stages=3, order=0)"),
              HasSubstr("needs more than 24 elements"));
  EXPECT_THAT(why(space, "small(tile=8, step=4, vector=1, stages=3, order=1)"),
              HasSubstr("order 1 needs vectors"));
  EXPECT_THAT(why(space, "small(tile=8, step=4, vector=2, stages=3)"),
              HasSubstr("the knob order of small is missing"));
  EXPECT_THAT(why(space, "small(step=4, tile=8, vector=2, stages=3, order=1)"),
              HasSubstr("tile of small must be number 1"));
  EXPECT_THAT(why(space, "small(tile=8, step=4, vector=2, stages=3, order=1, more=1)"),
              HasSubstr("no knob more"));
  EXPECT_TRUE(space.contains(parse_config("small(tile=8, step=4, vector=2, stages=3, order=1)")));
}

TEST(FamilySpace, RefusesMoreThanAPointHolds) {
  FamilySpace family("f");
  std::vector<std::int64_t> values(65'536);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_THROW(family.add("a", "", values), Error);
  values.pop_back();
  for (std::size_t i = 0; i < kMostKnobs; ++i)
    family.add("k" + std::to_string(i), "", i == 0 ? values : std::vector<std::int64_t>{7});
  EXPECT_THROW(family.add("more", "", {1}), Error);
  const Space space({family});
  Point last;
  GridCursor cursor(space);
  std::size_t count = 0;
  for (; const auto point = cursor.next(); ++count) last = *point;
  EXPECT_EQ(count, values.size());
  EXPECT_EQ(space.config_of(last).knobs[0].value, 65'534);
  EXPECT_EQ(space.find(space.config_of(last)), last);
}

TEST(Space, ConvertsBetweenPointsAndConfigs) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Space space = testing::random_space(seed);
    for (const Point& point : testing::brute_force(space)) {
      const Config config = space.config_of(point);
      ASSERT_EQ(config.family, space.families()[point.family].family());
      ASSERT_EQ(space.find(config), point) << to_text(config) << ", seed " << seed;
      ASSERT_EQ(space.point_of(config), point);
      ASSERT_EQ(parse_config(to_text(config)), config);
    }
  }
  EXPECT_EQ(testing::small_family().product_size(), 5.0 * 7 * 3 * 3 * 2);
}

TEST(Space, SaysWhyAConfigHasNoPoint) {
  const Space space = testing::small_space();
  EXPECT_EQ(space.find(parse_config("small(tile=8, step=6, vector=2, stages=3, order=0)")), std::nullopt);
  EXPECT_EQ(space.find(parse_config("other(tile=8)")), std::nullopt);
  try {
    space.point_of(parse_config("small(tile=8, step=6, vector=2, stages=3, order=0)"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_THAT(error.what(),
                HasSubstr("step=6, vector=2, stages=3, order=0) is not of this space: step=6 does "
                          "not go with the knobs before it, which allow 1, 2, 4, 8"));
  }
}

TEST(Points, AreEqualAndHashedAlikeWhereTheyAreTheSameConfig) {
  const Space space = testing::gemm_like_space();
  Rng rng(1);
  std::set<std::string> texts;
  std::unordered_set<Point, PointHash> points;
  std::set<std::size_t> hashes;
  for (int i = 0; i < 20'000; ++i) {
    const Point point = space.sample(rng);
    texts.insert(to_text(space.config_of(point)));
    points.insert(point);
    hashes.insert(PointHash()(point));
  }
  EXPECT_EQ(points.size(), texts.size());
  EXPECT_EQ(hashes.size(), texts.size());
  EXPECT_NE((Point{0, {1, 2}}), (Point{0, {2, 1}}));
  EXPECT_NE((Point{0, {1}}), (Point{1, {1}}));
}

TEST(FamilySpace, RepairsToTheNearestAllowedValue) {
  const Space space = testing::small_space();
  const FamilySpace& family = space.families()[0];
  Point point = {0, {3, 4, 1, 0, 0}};  // tile became 8, and step 6 is no factor of it: 4 and 8 are as near
  ASSERT_TRUE(family.repair(point, 0));
  EXPECT_EQ(point, (Point{0, {3, 3, 1, 0, 0}}));
  point = {0, {1, 6, 2, 0, 0}};
  ASSERT_TRUE(family.repair(point, 0));
  EXPECT_EQ(point, (Point{0, {1, 1, 1, 0, 0}}));
  point = {0, {4, 3, 2, 2, 0}};  // 36 elements: a broken rule is not repaired
  EXPECT_FALSE(family.repair(point, 0));
  point = {0, {4, 2, 0, 0, 0}};  // a dead end
  EXPECT_FALSE(family.repair(point, 1));
}

TEST(Space, RefusesTwoFamiliesOfOneName) {
  EXPECT_THROW(Space({FamilySpace("f"), FamilySpace("f")}), Error);
}

TEST(PowersOfTwo, IncludeBothEnds) {
  EXPECT_THAT(powers_of_two(1, 8), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(powers_of_two(4, 15), ElementsAre(4, 8));
  EXPECT_THAT(powers_of_two(8, 4), IsEmpty());
  EXPECT_EQ(powers_of_two(1, std::int64_t{1} << 62).size(), 63U);
  EXPECT_THROW(powers_of_two(3, 12), Error);
}

}  // namespace
}  // namespace lehr
