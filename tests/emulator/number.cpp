#include "number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace lehr::emulator {
namespace {

constexpr std::uint32_t kTF32Mask = ~0x1FFFU;  // sign, 8 exponent bits, 10 fraction bits

int bias_of(const NumberFormat& format) {
  return (1 << (format.exponent_bits - 1)) - 1;
}

}  // namespace

float decode(const NumberFormat& format, std::uint32_t bits) {
  const std::uint32_t ones = (1U << format.exponent_bits) - 1;
  const std::uint32_t fractions = 1U << format.fraction_bits;
  const std::uint32_t exponent = bits >> format.fraction_bits & ones;
  const std::uint32_t fraction = bits & (fractions - 1);
  const bool negative = (bits >> (format.exponent_bits + format.fraction_bits) & 1) != 0;
  float size = 0;
  if (exponent == ones && (format.infinity || fraction == fractions - 1)) {
    const bool infinite = format.infinity && fraction == 0;
    size = infinite ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(static_cast<float>(fraction), 1 - bias_of(format) - format.fraction_bits);
  } else {
    size = std::ldexp(static_cast<float>(fractions + fraction),
                      static_cast<int>(exponent) - bias_of(format) - format.fraction_bits);
  }
  return negative ? -size : size;
}

std::uint32_t encode(const NumberFormat& format, float value) {
  const std::uint32_t sign = (std::signbit(value) ? 1U : 0U) << (format.exponent_bits + format.fraction_bits);
  const std::uint32_t infinity = ((1U << format.exponent_bits) - 1) << format.fraction_bits;
  if (std::isnan(value)) return infinity | ((1U << format.fraction_bits) - 1);
  if (std::isinf(value)) return sign | infinity;
  int exponent = 0;
  std::frexp(value, &exponent);  // |value| in [2^(exponent-1), 2^exponent)
  const int lowest = 1 - bias_of(format);
  const int scale = value == 0 ? lowest : std::max(exponent - 1, lowest);
  // The fraction, in units of the last place. Its implicit bit, or the carry out of the fraction, raises the
  // exponent field.
  const double units = std::ldexp(std::fabs(static_cast<double>(value)), format.fraction_bits - scale);
  const auto rounded = static_cast<std::uint32_t>(std::nearbyint(units));
  const std::uint32_t bits = (static_cast<std::uint32_t>(scale - lowest) << format.fraction_bits) + rounded;
  return sign | std::min(bits, infinity);
}

std::uint32_t round_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (!std::isfinite(value)) return bits & kTF32Mask;
  return (bits + 0x1000) & kTF32Mask;
}

float truncate_to_tf32(std::uint32_t bits) {
  return std::bit_cast<float>(bits & kTF32Mask);
}

}  // namespace lehr::emulator
