// Compares sums as tensor cores compute them with results computed by hand.
#include "tensor_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lehr::emulator {
namespace {

using Products = std::vector<float>;

/// Returns `before` plus the values of `products`, each multiplied by 1, in every column.
float sum_of(const TensorAdder& adder, float before, const Products& products) {
  const std::vector<float> ones(kSumColumns * products.size(), 1);
  std::vector<float> sums(kSumColumns, before);
  add_products(adder, products, ones.data(), kSumColumns, sums.data());
  for (const float other : sums) EXPECT_TRUE(other == sums[0] || std::isnan(other));
  return sums[0];
}
float sum(float before, const Products& products) {
  return sum_of(kAdder, before, products);
}
float fp8_sum(float before, const Products& products) {
  return sum_of(kAdderOf8BitFloats, before, products);
}

TEST(TensorSum, IsExactWhereItsFractionBitsSuffice) {
  EXPECT_EQ(sum(0, {}), 0);
  EXPECT_EQ(sum(-3, {}), -3);
  EXPECT_EQ(sum(1, {0.5F, -2.25F, 0x1p-23F}), -0.75F + 0x1p-23F);
  EXPECT_EQ(fp8_sum(1, {0.5F, -2.25F, 0x1p-12F}), -0.75F + 0x1p-12F);
  EXPECT_EQ(fp8_sum(4096, {0.5F, 0.5F}), 4097);
  const std::vector<float> odd = {1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 40, 50, 60, 70, 80};
  std::vector<float> sums(kSumColumns, 100);
  add_products(kAdder, Products{2, -1}, odd.data(), kSumColumns, sums.data());
  for (std::size_t n = 0; n < kSumColumns; ++n) EXPECT_EQ(sums[n], 100 + 2 * odd[n] - odd[kSumColumns + n]);
}

TEST(TensorSum, CutsOffEachAddendTowardsZeroAtTheLargestOnesBit) {
  // Added to 1, 2^-25 is kept, and half of 2^-25 is lost, however often it is added.
  EXPECT_EQ(sum(1, Products(4, 0x1p-25F)), 1 + 0x1p-23F);
  EXPECT_EQ(sum(1, Products(16, 0x1p-26F)), 1);
  EXPECT_EQ(sum(1, Products(16, -0x1p-26F)), 1);
  EXPECT_EQ(sum(-1, Products(16, 0x1.8p-25F)), -1 + 16 * 0x1p-25F);
  EXPECT_EQ(fp8_sum(1, {0x1p-13F}), 1 + 0x1p-13F);
  EXPECT_EQ(fp8_sum(1, Products(32, 0x1p-14F)), 1);
  EXPECT_EQ(fp8_sum(1, Products(32, -0x1p-14F)), 1);
  EXPECT_EQ(fp8_sum(-1, Products(32, 0x1.8p-13F)), -1 + 32 * 0x1p-13F);
  // The largest magnitude may be that of a product.
  EXPECT_EQ(fp8_sum(0x1p-9F, {32, -32, 0x1p-8F}), 0x1p-8F);
  EXPECT_EQ(fp8_sum(0x1p-9F, {64, -64, 0x1p-8F}), 0);
}

TEST(TensorSum, TakesTheSizeOfAProductFromItsOperandsExponents) {
  const std::vector<float> factors(kSumColumns, 1.5F);
  std::vector<float> sums(kSumColumns, 0x1p-13F);
  add_products(kAdderOf8BitFloats, Products{1.5F}, factors.data(), kSumColumns, sums.data());
  EXPECT_EQ(sums[0], 2.25F);  // 2^-13 is kept when 1 is the largest, and cut off at the end
  sums[0] = 0x1p-13F - 2.25F;
  add_products(kAdderOf8BitFloats, Products{1.5F}, factors.data(), kSumColumns, sums.data());
  EXPECT_EQ(sums[0], 0x1p-12F);  // that sum counts as 2, so its last bit is 2^-12
}

TEST(TensorSum, CutsOffTheSumAtItsOwnBit) {
  EXPECT_EQ(sum(1, {0x1.8p-24F}), 1);
  EXPECT_EQ(sum(-1, {-0x1.8p-24F}), -1);
  EXPECT_EQ(sum(1 + 0x1p-23F, {1}), 2);
  const float odd = 1 + 0x1p-13F;
  EXPECT_EQ(fp8_sum(odd, {1}), 2);
  EXPECT_EQ(fp8_sum(odd, {odd}), 2 + 0x1p-12F);
  EXPECT_EQ(fp8_sum(-odd, {-1}), -2);
}

TEST(TensorSum, LosesWhatComesLateToALargeSum) {
  float whole = 0, whole_of_8_bits = 0, in_parts = 0;
  for (int i = 0; i < 256; ++i) {
    const Products many(16, 1.0F + 0x1p-3F);
    whole_of_8_bits = fp8_sum(whole_of_8_bits, many);
    in_parts += fp8_sum(0, many);
    whole = sum(whole, Products(16, 1.0F + 0x1.8p-19F));
  }
  EXPECT_EQ(in_parts, 4096 * 1.125F);  // the advantage of sums in two levels
  EXPECT_LT(whole_of_8_bits, in_parts - 64);
  const float expected = 4096 * (1.0F + 0x1.8p-19F);
  EXPECT_LT(whole, expected - 16 * 0x1p-12F);
  EXPECT_GT(whole, expected - 256 * 0x1p-11F);
}

TEST(TensorSum, KeepsWhatIsNoNumberAndWhatIsVeryLargeOrSmall) {
  EXPECT_TRUE(std::isnan(sum(0, {1, NAN})));
  EXPECT_TRUE(std::isnan(sum(NAN, {1})));
  EXPECT_TRUE(std::isnan(sum(0, {INFINITY, -INFINITY})));
  EXPECT_EQ(sum(1, {-INFINITY}), -INFINITY);
  EXPECT_EQ(sum(0x1p127F, {0x1p126F, 1}), 0x1.8p127F);
  EXPECT_EQ(sum(0x1p-110F, {0x1p-111F}), 0x1.8p-110F);
}

}  // namespace
}  // namespace lehr::emulator
