// Sums of 8-bit floats as tensor cores make them: answers worked out by hand.
#include "fp8_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lehr::emulator {
namespace {

using Products = std::vector<float>;

TEST(Fp8Sum, IsExactWhereThirteenFractionBitsSuffice) {
  EXPECT_EQ(fp8_sum(0, Products{}), 0);
  EXPECT_EQ(fp8_sum(-3, Products{}), -3);
  EXPECT_EQ(fp8_sum(1, Products{0.5F, -2.25F, 0x1p-12F}), -0.75F + 0x1p-12F);
  EXPECT_EQ(fp8_sum(4096, Products{0.5F, 0.5F}), 4097);
}

TEST(Fp8Sum, TruncatesEachAddendTowardsZeroAtTheLargestOnesThirteenthBit) {
  // Of 1: 2^-13 stays, half of it goes, however often it comes.
  EXPECT_EQ(fp8_sum(1, Products{0x1p-13F}), 1 + 0x1p-13F);
  EXPECT_EQ(fp8_sum(1, Products(32, 0x1p-14F)), 1);
  EXPECT_EQ(fp8_sum(1, Products(32, -0x1p-14F)), 1);
  EXPECT_EQ(fp8_sum(-1, Products(32, 0x1.8p-13F)), -1 + 32 * 0x1p-13F);
  // The largest may be a product.
  EXPECT_EQ(fp8_sum(0x1p-9F, Products{32, -32, 0x1p-8F}), 0x1p-8F);
  EXPECT_EQ(fp8_sum(0x1p-9F, Products{64, -64, 0x1p-8F}), 0);
}

TEST(Fp8Sum, TruncatesTheSumAtItsOwnThirteenthBit) {
  const float odd = 1 + 0x1p-13F;
  EXPECT_EQ(fp8_sum(odd, Products{1}), 2);
  EXPECT_EQ(fp8_sum(odd, Products{odd}), 2 + 0x1p-12F);
  EXPECT_EQ(fp8_sum(-odd, Products{-1}), -2);
}

TEST(Fp8Sum, LosesWhatComesLateToALargeSum) {
  float sum = 0;
  float in_parts = 0;
  for (int i = 0; i < 128; ++i) {
    const Products ones(32, 1.0F + 0x1p-3F);
    sum = fp8_sum(sum, ones);
    in_parts += fp8_sum(0, ones);
  }
  EXPECT_EQ(in_parts, 4096 * 1.125F);  // what the two levels are for
  EXPECT_LT(sum, in_parts - 64);
}

TEST(Fp8Sum, KeepsWhatIsNoNumber) {
  EXPECT_TRUE(std::isnan(fp8_sum(0, Products{1, NAN})));
  EXPECT_TRUE(std::isnan(fp8_sum(NAN, Products{1})));
  EXPECT_EQ(fp8_sum(1, Products{INFINITY}), INFINITY);
  EXPECT_TRUE(std::isnan(fp8_sum(-INFINITY, Products{INFINITY})));
}

}  // namespace
}  // namespace lehr::emulator
