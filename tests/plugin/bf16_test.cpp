// Tests of the operators between matches in bf16, on memory that is no larger than what they may touch.
#include "plugin/bf16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace lehr::testing {
namespace {

using namespace lehr::onnxruntime;
using Row = std::vector<std::uint16_t>;

float value_of(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Returns all numbers, NaNs with and without a sign among them, one after the other.
Row many(std::int64_t count) {
  Row made(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::uint16_t>(i * 40503 + 0xff00);
  return made;
}

void expect_same(std::uint16_t bits, float wanted, std::size_t at) {
  if (std::isnan(wanted))
    EXPECT_TRUE(std::isnan(value_of(bits))) << at;
  else
    EXPECT_EQ(value_of(bits), wanted) << at;
}

float maximum(const PlaneWindows& windows, const Row& plane, std::int64_t y, std::int64_t x) {
  float most = -std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < windows.down.kernel; ++i)
    for (std::int64_t j = 0; j < windows.along.kernel; ++j) {
      const std::int64_t row = y * windows.down.stride - windows.down.before + i * windows.down.dilation;
      const std::int64_t column =
          x * windows.along.stride - windows.along.before + j * windows.along.dilation;
      if (row < 0 || row >= windows.height || column < 0 || column >= windows.width) continue;
      const float number = value_of(plane[static_cast<std::size_t>(row * windows.width + column)]);
      if (std::isnan(number) || std::isnan(most))
        most = std::numeric_limits<float>::quiet_NaN();
      else
        most = std::max(most, number);
    }
  return most;
}

TEST(Bf16, MaximaOfPlanes) {
  for (const Window along : {Window{3, 2, 1, 1, 1}, Window{2, 2, 1, 0, 0}, Window{5, 1, 1, 2, 2},
                             Window{2, 3, 4, 0, 3}, Window{1, 5, 1, 0, 0}})
    for (const std::int64_t width : {5, 7, 8, 16, 17, 33, 50}) {
      PlaneWindows windows;
      windows.down = {3, 2, 2, 1, 0};
      windows.along = along;
      windows.height = 11;
      windows.width = width;
      windows.out_height = (11 + 1 - 5) / 2 + 1;
      windows.out_width = (width + along.before + along.after - along.reach()) / along.stride + 1;
      const Row plane = many(windows.height * width);
      Row out(static_cast<std::size_t>(windows.out_height * windows.out_width));
      std::vector<unsigned char> scratch(static_cast<std::size_t>(windows.scratch_bytes()));
      maxima_of_plane(windows, plane.data(), out.data(), scratch.data());
      for (std::size_t i = 0; i < out.size(); ++i)
        expect_same(out[i],
                    maximum(windows, plane, static_cast<std::int64_t>(i) / windows.out_width,
                            static_cast<std::int64_t>(i) % windows.out_width),
                    i);
    }
}

TEST(Bf16, AWindowOfNothingHasNoLargestNumber) {
  PlaneWindows windows;
  windows.along = {1, 1, 1, 1, 1};
  windows.width = 1;
  windows.out_width = 3;
  const Row plane = {0x3f80};
  Row out(3);
  std::vector<unsigned char> scratch(static_cast<std::size_t>(windows.scratch_bytes()));
  maxima_of_plane(windows, plane.data(), out.data(), scratch.data());
  EXPECT_EQ(out, (Row{0xff80, 0x3f80, 0xff80}));
}

TEST(Bf16, WhatIsTooLargeHasNoScratch) {
  PlaneWindows windows;
  windows.along = {2, 1, std::int64_t{1} << 60, 0, 0};
  EXPECT_EQ(windows.scratch_bytes(), -1);
}

// 1 + 2^-8 and 1 + 3 2^-8 lie in the middle between two numbers: the even one is taken.
TEST(Bf16, SumsAreRoundedHalfToEven) {
  const Row ones(19, 0x3f80);
  Row small(19, 0x3b80), out(19);
  small[1] = 0x3c40;
  small[18] = 0x3b81;
  add_rows(ones.data(), 1, small.data(), 1, out.data(), 19);
  EXPECT_EQ(out[0], 0x3f80);
  EXPECT_EQ(out[1], 0x3f82);
  EXPECT_EQ(out[18], 0x3f81);
  const Row all = many(65536);
  Row sums(all.size());
  const std::uint16_t zero = 0;
  add_rows(&zero, 0, all.data(), 1, sums.data(), static_cast<std::int64_t>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) expect_same(sums[i], value_of(all[i]), i);
}

TEST(Bf16, ReluLeavesNaNs) {
  for (const std::int64_t count : {1, 7, 8, 65536}) {
    const Row all = many(count);
    Row out(all.size());
    relu_row(all.data(), out.data(), count);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float number = value_of(all[i]);
      expect_same(out[i], number < 0 ? 0 : number, i);
    }
  }
}

// bf16 does not hold the sum of these 257 numbers.
TEST(Bf16, AMeanIsRoundedOnce) {
  Row plane(257, 0x3f80);
  EXPECT_EQ(mean_of(plane.data(), 257), 0x3f80);
  plane[256] = 0x4000;
  EXPECT_EQ(value_of(mean_of(plane.data(), 257)), 1.0F) << "258 / 257";
  plane[3] = 0x7fc0;
  EXPECT_TRUE(std::isnan(value_of(mean_of(plane.data(), 257))));
}

TEST(Bf16, MeansCountPadsWhereTheyAreTold) {
  PlaneWindows windows;
  windows.down = windows.along = {3, 1, 1, 1, 1};
  windows.height = windows.out_height = 2;
  windows.width = windows.out_width = 9;
  const Row plane(18, 0x4110);  // 9
  Row out(18);
  means_of_plane(windows, plane.data(), out.data());
  EXPECT_EQ(out, plane);
  windows.counts_pads = true;
  means_of_plane(windows, plane.data(), out.data());
  EXPECT_EQ(value_of(out[0]), 4);
  for (std::size_t i = 1; i < 8; ++i) EXPECT_EQ(value_of(out[i]), 6) << i;
}

}  // namespace
}  // namespace lehr::testing
