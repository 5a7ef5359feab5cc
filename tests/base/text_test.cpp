// Small parsers: what they take, and above all what they do not take.
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace lehr {
namespace {

using testing::ElementsAre;

TEST(Text, LowerCaseIsOfAsciiAlone) {
  EXPECT_EQ(lower_case("NCHW Af1:[@`{ \xc3\x84"), "nchw af1:[@`{ \xc3\x84");
  EXPECT_EQ(lower_case(""), "");
}

TEST(ParseNumber, TakesFiniteNumbersAndNothingElse) {
  EXPECT_EQ(parse_number("0.5"), 0.5F);
  EXPECT_EQ(parse_number("-1e-3"), -1e-3F);
  EXPECT_EQ(parse_number("12"), 12.0F);
  for (const char* text : {"", "x", "0.5x", " 1", "+1", "nan", "inf", "-inf", "1e39", "1,5"})
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(",", ','), ElementsAre("", ""));
}

TEST(ParseInt, ReadsWholeDecimalNumbersOnly) {
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("-17"), -17);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* text : {"", " 1", "1 ", "+1", "1.0", "0x10", "1e3", "--1", "-", "9223372036854775808"})
    EXPECT_FALSE(parse_int(text).has_value()) << text;
}

TEST(ParseSum, AddsUpWholeNumbersOnly) {
  EXPECT_EQ(parse_sum("4096"), 4096);
  EXPECT_EQ(parse_sum("4096+1024+1024"), 6144);
  for (const char* text : {"", "+", "1+", "+1", "1++2", "1+x", "9223372036854775807+1"})
    EXPECT_FALSE(parse_sum(text).has_value()) << text;
}

TEST(Closest, NamesASlipAndNothingElse) {
  const std::vector<std::string> known = {"gemm", "conv2d", "replay", "mr"};
  EXPECT_EQ(closest("gem", known), "gemm");
  EXPECT_EQ(closest("gmem", known), "gemm");
  EXPECT_EQ(closest("conv3d", known), "conv2d");
  EXPECT_EQ(closest("gemm", known), "gemm");
  EXPECT_EQ(closest("softmax", known), "");
  EXPECT_EQ(closest("xy", known), "") << "two of two letters wrong is no slip";
  EXPECT_EQ(closest("gemm", {}), "");
}

}  // namespace
}  // namespace lehr
