// Elements in memory, for fake vendor libraries: conversions of their own, so that they share no fault with
// the product.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace fake {

// cudaDataType
constexpr int kF32 = 0, kF64 = 1, kF16 = 2, kS8 = 3, kS32 = 10, kBF16 = 14, kE4M3 = 28, kE5M2 = 29;

inline int size_of(int type) {
  switch (type) {
    case kF64:
      return 8;
    case kF32:
    case kS32:
      return 4;
    case kF16:
    case kBF16:
      return 2;
    default:
      return 1;
  }
}

inline double small_float(unsigned bits, int exponent_bits, int fraction_bits, int bias) {
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
  const double size = exponent == 0
                          ? std::ldexp(fraction, 1 - bias - fraction_bits)
                          : std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  return (bits & 0x80) != 0 ? -size : size;
}

inline double load(int type, const unsigned char* at) {
  switch (type) {
    case kF64: {
      double value;
      std::memcpy(&value, at, 8);
      return value;
    }
    case kF32: {
      float value;
      std::memcpy(&value, at, 4);
      return static_cast<double>(value);
    }
    case kS32: {
      std::int32_t value;
      std::memcpy(&value, at, 4);
      return value;
    }
    case kF16: {
      std::uint16_t bits;
      std::memcpy(&bits, at, 2);
      const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
      const double size =
          exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
      return (bits & 0x8000) != 0 ? -size : size;
    }
    case kBF16: {
      std::uint16_t bits;
      std::memcpy(&bits, at, 2);
      const std::uint32_t wide = std::uint32_t{bits} << 16;
      float value;
      std::memcpy(&value, &wide, 4);
      return static_cast<double>(value);
    }
    case kE4M3:
      return small_float(*at, 4, 3, 7);
    case kE5M2:
      return small_float(*at, 5, 2, 15);
    default:
      return static_cast<signed char>(*at);
  }
}

/// Stores an element. f16 and bf16 are cut off, which tests allow for.
inline void store(int type, double value, unsigned char* at) {
  const auto put = [at](auto converted) { std::memcpy(at, &converted, sizeof converted); };
  switch (type) {
    case kF64:
      return put(value);
    case kF32:
      return put(static_cast<float>(value));
    case kS32:
      return put(static_cast<std::int32_t>(value));
    case kF16: {
      int exponent = 0;
      const double fraction = std::frexp(std::fabs(value), &exponent);
      const std::uint16_t sign = value < 0 ? 0x8000 : 0;
      if (value == 0 || exponent < -13) return put(sign);
      return put(static_cast<std::uint16_t>(sign | ((exponent + 14) << 10) |
                                            (static_cast<int>(fraction * 2048) & 1023)));
    }
    case kBF16: {
      const float narrow = static_cast<float>(value);
      std::uint32_t bits;
      std::memcpy(&bits, &narrow, 4);
      return put(static_cast<std::uint16_t>(bits >> 16));
    }
    default:
      return put(static_cast<std::int8_t>(value));
  }
}

}  // namespace fake
