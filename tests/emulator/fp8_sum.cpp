// Written for speed, since each sum of each emulated instruction comes here: the loops are of integers or
// single operations on floats, which compilers turn into vector code.
#include "fp8_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace lehr::emulator {
namespace {

constexpr int kFractionBits = 13;

/// Ordered like the sizes of the numbers; those that are not finite are the largest.
std::int32_t size_bits(float x) {
  return std::bit_cast<std::int32_t>(x) & 0x7FFFFFFF;
}

float power_of_two(int exponent) {
  return std::bit_cast<float>((exponent + 127) << 23);
}

}  // namespace

float fp8_sum(float before, std::span<const float> products) {
  std::int32_t largest = size_bits(before);
  for (const float x : products) largest = std::max(largest, size_bits(x));
  const int exponent = (largest >> 23) - 127;
  // Infinities and what is no number; or no product but zero, whose smallest is 2^-32.
  if (exponent == 128 || exponent < -100) {
    for (const float x : products) before += x;
    return before;
  }
  const int unit = exponent - kFractionBits;
  const float scale = power_of_two(-unit);
  // Below 2^14 each; conversions to integers truncate towards zero.
  auto sum = static_cast<std::int32_t>(before * scale);
  for (const float x : products) sum += static_cast<std::int32_t>(x * scale);
  const auto size = static_cast<std::uint32_t>(std::abs(sum));
  const int dropped = std::max(0, static_cast<int>(std::bit_width(size)) - (kFractionBits + 1));
  const float kept = static_cast<float>(size >> dropped << dropped) * power_of_two(unit);
  return sum < 0 ? -kept : kept;
}

}  // namespace lehr::emulator
