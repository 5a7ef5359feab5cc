// Building a family's space and judging configs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THROW(family.only([](const Point&) { return true; }), Error);
  EXPECT_THROW(family.forbid("", [](const Point&) { return true; }), Error);
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
  family.only([=](const Point& p) { return p[a] % p[b] == 0; });
  const std::size_t c = family.add("c", "", {1, 2});
  family.forbid("", [=](const Point& p) { return p[a] + p[c] >= 5; });
  int inside = 0;
  for (std::int64_t x = 1; x <= 3; ++x)
    for (std::int64_t y = 1; y <= 3; ++y)
      for (std::int64_t z = 1; z <= 2; ++z) {
        const std::vector<std::int64_t> values = {x, y, z};
        EXPECT_EQ(family.contains(values), !family.why_invalid(family.config_of(values))) << x << y << z;
        inside += family.contains(values);
      }
  EXPECT_EQ(inside, 1 * 2 + 2 * 2 + 2 * 1);
}

TEST(FamilySpace, AsksARuleAfterTheKnobThatItFollows) {
  FamilySpace family("f");
  const std::size_t a = family.add("a", "", {1, 2});
  family.add("b", "", {1, 2});
  const std::size_t c = family.add("c", "", {1, 2});
  family.forbid("a and c are equal", [=](const Point& p) { return p[a] == p[c]; });
  using Values = std::vector<std::int64_t>;
  EXPECT_EQ(family.violation(Values{1}), std::nullopt);
  EXPECT_EQ(family.violation(Values{1, 1}), std::nullopt);
  EXPECT_EQ(family.violation(Values{1, 1, 1}), "a and c are equal");
  EXPECT_EQ(family.violation(Values{1, 1, 2}), std::nullopt);
  EXPECT_FALSE(family.holds(Values{2, 1, 2}));
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

TEST(FamilySpace, ConvertsBetweenValuesAndConfigs) {
  const Space space = testing::small_space();
  const FamilySpace& family = space.families()[0];
  const std::vector<std::int64_t> values{8, 4, 2, 3, 1};
  EXPECT_EQ(family.values_of(family.config_of(values)), values);
  EXPECT_THROW(family.config_of(std::vector<std::int64_t>{8}), Error);
  EXPECT_THROW(family.values_of(parse_config("small(step=4, tile=8, vector=2, stages=3, order=1)")), Error);
  EXPECT_EQ(testing::small_family().product_size(), 5.0 * 7 * 3 * 3 * 2);
}

TEST(FamilySpace, RepairsToTheNearestAllowedValue) {
  const Space space = testing::small_space();
  const FamilySpace& family = space.families()[0];
  std::vector<std::int64_t> values{8, 6, 2, 1,
                                   0};  // tile became 8, of which 6 is no factor: 4 and 8 are as near
  ASSERT_TRUE(family.repair(values, 0));
  EXPECT_THAT(values, ElementsAre(8, 4, 2, 1, 0));
  values = {2, 12, 4, 1, 0};
  ASSERT_TRUE(family.repair(values, 0));
  EXPECT_THAT(values, ElementsAre(2, 2, 2, 1, 0));
  values = {12, 4, 4, 3, 0};  // 36 elements: a broken rule is not repaired
  EXPECT_FALSE(family.repair(values, 0));
  values = {12, 3, 1, 1, 0};  // a dead end
  EXPECT_FALSE(family.repair(values, 1));
}

TEST(Space, RefusesTwoFamiliesOfOneName) {
  EXPECT_THROW(Space({FamilySpace("f"), FamilySpace("f")}), Error);
}

TEST(Factors, AreAscendingAndLimited) {
  EXPECT_THAT(factors(12, 12), ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_THAT(factors(36, 6), ElementsAre(1, 2, 3, 4, 6));
  EXPECT_THAT(factors(7, 6), ElementsAre(1));
  EXPECT_THAT(factors(1, 100), ElementsAre(1));
  EXPECT_THAT(factors(6, 0), IsEmpty());
  EXPECT_THROW(factors(0, 1), Error);
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
