// Written for speed, since every sum of every emulated instruction is computed here. Loops over the columns
// consist of single operations on floats or integers, which the compiler turns into vector code.
#include "tensor_sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace lehr::emulator {
namespace {

using Columns = std::array<float, kSumColumns>;

constexpr std::size_t kMostProducts = 32;
/// Number of products that a 32-bit integer can accumulate: each is below 2^27 units.
constexpr std::size_t kTogether = 8;
/// Smaller magnitudes count as this number, so that a unit is a normal number. The smallest product of 8-bit
/// or 16-bit inputs that matters is far above it.
constexpr float kSmallest = 0x1p-100F;

/// Returns the power of two with the exponent of x; for a subnormal x, the least normal power.
float power_of(float x) {
  return std::max(std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7F800000U), 0x1p-126F);
}

/// Returns 2^bits / power, where `power` is a power of two.
float scale_of(int bits, float power) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(bits + 254) << 23) -
                              std::bit_cast<std::uint32_t>(power));
}

/// Returns x without the fraction bits below bit `bits`.
double cut(double x, int bits) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & (~std::uint64_t{0} << (52 - bits)));
}

bool all_finite(const Columns& values) {
  bool finite = true;
  for (const float x : values) finite = finite && std::isfinite(x);
  return finite;
}

}  // namespace

void add_products(const TensorAdder& adder, std::span<const float> a, const float* b, std::size_t stride,
                  float* sums) {
  std::array<Columns, kMostProducts> products;
  Columns largest{}, plain{}, scale{};
  for (std::size_t n = 0; n < kSumColumns; ++n) {
    largest[n] = std::max(kSmallest, power_of(sums[n]));
    plain[n] = sums[n];
  }
  for (std::size_t k = 0; k < a.size(); ++k) {
    const float x = a[k], power = power_of(x);
    const float* y = b + k * stride;
    for (std::size_t n = 0; n < kSumColumns; ++n) {
      products[k][n] = x * y[n];
      plain[n] += products[k][n];
      largest[n] = std::max(largest[n], power * power_of(y[n]));
    }
  }
  if (!all_finite(plain)) {
    for (std::size_t n = 0; n < kSumColumns; ++n) sums[n] = plain[n];
    return;
  }
  for (std::size_t n = 0; n < kSumColumns; ++n) scale[n] = scale_of(adder.aligned, largest[n]);
  std::array<double, kSumColumns> total{};
  // Conversions to integers round towards zero.
  for (std::size_t n = 0; n < kSumColumns; ++n) total[n] = static_cast<std::int32_t>(sums[n] * scale[n]);
  for (std::size_t first = 0; first < a.size(); first += kTogether) {
    std::array<std::int32_t, kSumColumns> some{};
    for (std::size_t k = first; k < std::min(first + kTogether, a.size()); ++k)
      for (std::size_t n = 0; n < kSumColumns; ++n)
        some[n] += static_cast<std::int32_t>(products[k][n] * scale[n]);
    for (std::size_t n = 0; n < kSumColumns; ++n) total[n] += some[n];
  }
  for (std::size_t n = 0; n < kSumColumns; ++n)
    sums[n] = static_cast<float>(cut(total[n], adder.kept) / static_cast<double>(scale[n]));
}

}  // namespace lehr::emulator
