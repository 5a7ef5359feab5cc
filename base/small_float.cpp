#include "base/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lehr {
namespace {

/// Returns an 8-bit float of this format. Values beyond `largest` saturate.
std::uint8_t to_8_bits(float value, int fraction_bits, int bias, float largest) {
  const unsigned sign = std::signbit(value) ? 0x80U : 0U;
  if (std::isnan(value)) return static_cast<std::uint8_t>(sign | 0x7F);
  const float size = std::min(std::fabs(value), largest);
  if (size == 0) return static_cast<std::uint8_t>(sign);
  const int exponent = std::max(std::ilogb(size), 1 - bias);  // subnormals share the smallest exponent
  const auto steps = static_cast<unsigned>(std::nearbyint(std::ldexp(size, fraction_bits - exponent)));
  // The leading bit of a normal number is part of the steps, and adds one to the exponent field.
  return static_cast<std::uint8_t>(sign |
                                   (steps + (static_cast<unsigned>(exponent + bias - 1) << fraction_bits)));
}

float from_8_bits(std::uint8_t bits, int fraction_bits, int bias) {
  const float sign = (bits & 0x80) != 0 ? -1.0F : 1.0F;
  const int field = (bits & 0x7F) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const int leading = field == 0 ? 0 : 1 << fraction_bits;
  return sign * std::ldexp(static_cast<float>(leading + fraction), std::max(field, 1) - bias - fraction_bits);
}

float saturated(float value, float low, float high) {
  return std::clamp(std::nearbyint(value), low, high);
}

}  // namespace

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x0040);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// IEEE binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const float size = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7C00);
  // Subnormal: the value in units of 2^-24, rounded to nearest even; 1024 units are the smallest normal
  // number.
  if (size < 0x1p-14F)
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(size * 0x1p24F)));
  const std::uint32_t rebased = (bits & 0x7FFFFFFF) - ((127U - 15U) << 23);
  return static_cast<std::uint16_t>(sign | ((rebased + 0x0FFF + ((rebased >> 13) & 1)) >> 13));
}

float from_f16(std::uint16_t bits) {
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  if (exponent == 0) return sign * static_cast<float>(fraction) * 0x1p-24F;
  if (exponent == 31) return fraction != 0 ? std::nanf("") : sign * INFINITY;
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

std::uint8_t to_e4m3(float value) {
  return to_8_bits(value, 3, 7, 448);
}
float from_e4m3(std::uint8_t bits) {
  return (bits & 0x7F) == 0x7F ? std::nanf("") : from_8_bits(bits, 3, 7);
}

std::uint8_t to_e5m2(float value) {
  return to_8_bits(value, 2, 15, 57344);
}
float from_e5m2(std::uint8_t bits) {
  return from_f16(static_cast<std::uint16_t>(bits << 8));  // the upper half of an f16
}

float rounded_to(DType type, float value) {
  switch (type) {
    case DType::kF64:
    case DType::kF32:
      return value;
    case DType::kF16:
      return from_f16(to_f16(value));
    case DType::kBF16:
      return from_bf16(to_bf16(value));
    case DType::kE4M3:
      return from_e4m3(to_e4m3(value));
    case DType::kE5M2:
      return from_e5m2(to_e5m2(value));
    case DType::kS32:
      return saturated(value, -0x1p31F, 0x1.fffffep30F);
    case DType::kS8:
      return saturated(value, -128, 127);
    case DType::kS7:
      return saturated(value, -64, 64);
    case DType::kU8:
      return saturated(value, 0, 255);
    case DType::kS16:
      return saturated(value, -32768, 32767);
    case DType::kU32:
      return saturated(value, 0, 0x1.fffffep31F);
    case DType::kU16:
      return saturated(value, 0, 65535);
    case DType::kS64:
      return saturated(value, -0x1p63F, 0x1.fffffep62F);
  }
  return value;
}

}  // namespace lehr
