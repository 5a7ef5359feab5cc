// Tests of the range of numbers for inputs that index tables. Random ids below 8 once exceeded a table of two
// token types, so no text encoder could be compared with its rewritten model.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "graph_text.h"
#include "network/index_ranges.h"

namespace lehr::testing {
namespace {

// Returns "low..high" of the input `ids`; "any" where nothing bounds it.
std::string range_of(const std::string& nodes, const std::string& type = "s64") {
  const OnnxModel model = onnx_model(fmt::format(R"(
    input ids {} 2x6
    input mask s64 2x6
    constant table f32 10x4
    constant wide f32 4x50
    constant minus s64 - = -1
    constant zero s64 - = 0
    constant one s64 - = 1
    constant three s64 - = 3
    constant four s64 - = 4
    constant hundred s64 - = 100
    constant offsets s64 6 = 0 1 2 3 4 5
  )",
                                                 type) +
                                     nodes);
  const auto ranges = index_ranges(model, infer_shapes(model, {}));
  const auto found = ranges.find("ids");
  return found == ranges.end() ? "any" : fmt::format("{}..{}", found->second.first, found->second.second);
}

TEST(IndexRanges, AreThoseOfTheTables) {
  EXPECT_EQ(range_of("y = Gather(table, ids)"), "0..9");
  EXPECT_EQ(range_of("y = Gather(wide, ids) axis=1"), "0..49");
  EXPECT_EQ(range_of("y = Gather(wide, ids) axis=-1"), "0..49");
  EXPECT_EQ(range_of("y = Gather(wide, ids)\n z = Gather(table, ids)"), "0..3");
  EXPECT_EQ(range_of("y = Relu(ids)"), "any");
  EXPECT_EQ(range_of("y = Gather(table, mask)"), "any");
}

TEST(IndexRanges, FollowWhatIsMadeOfAnInput) {
  EXPECT_EQ(range_of("a = Cast(ids) to=7\n y = Gather(table, a)", "f32"), "0..9");
  EXPECT_EQ(range_of("a = Cast(ids) to=9\n y = Gather(table, a)"), "any");
  EXPECT_EQ(range_of("a = Clip(ids, zero, three)\n y = Gather(table, a)"), "any");
  EXPECT_EQ(range_of("a = Clip(ids, zero, hundred)\n y = Gather(table, a)"), "0..9");
  EXPECT_EQ(range_of("a = Mod(ids, four)\n y = Gather(table, a)"), "any");
  EXPECT_EQ(range_of("a = Mod(ids, hundred)\n y = Gather(table, a)"), "0..9");
  EXPECT_EQ(range_of("a = Min(ids, three)\n y = Gather(table, a)"), "0..7");
  EXPECT_EQ(range_of("a = Sub(ids, one)\n y = Gather(table, a)"), "0..10");
  EXPECT_EQ(range_of("a = Add(ids, hundred)\n y = Gather(table, a)"), "-110..-91");
  EXPECT_EQ(range_of("a = Add(ids, offsets)\n y = Gather(table, a)"), "0..4");
  EXPECT_EQ(range_of("a = Neg(ids)\n y = Gather(table, a)"), "0..10");
  EXPECT_EQ(range_of("a = Mul(ids, three)\n y = Gather(table, a)"), "0..3");
  EXPECT_EQ(range_of("a = Add(ids, mask)\n y = Gather(table, a)"), "0..4");
  EXPECT_EQ(range_of("a = Mul(ids, mask)\n y = Gather(table, a)"), "0..3");
  EXPECT_EQ(range_of("a = CumSum(ids, one)\n y = Gather(table, a)"), "0..1");
  EXPECT_EQ(range_of("a = Less(ids, three)\n b = Where(a, ids, three)\n y = Gather(table, b)"), "0..9");
  // Ids that count from the end.
  EXPECT_EQ(
      range_of("a = Less(ids, zero)\n b = Add(ids, hundred)\n c = Where(a, b, ids)\n y = Gather(table, c)"),
      "0..9");
}

TEST(IndexRanges, OfSizesAreSmall) {
  EXPECT_EQ(range_of("y = Expand(table, ids)"), "1..2");
  EXPECT_EQ(range_of("a = Add(ids, one)\n y = ConstantOfShape(a)"), "0..1");
}

}  // namespace
}  // namespace lehr::testing
