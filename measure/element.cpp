// Conversions by bit patterns: the host has no arithmetic for f16 and bf16 that every compiler agrees on.
#include "measure/element.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace lehr {
namespace {

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

template <typename T>
T saturated(float value, double low, double high) {
  return static_cast<T>(std::clamp(std::nearbyint(static_cast<double>(value)), low, high));
}

template <typename T, typename Convert>
void store_all(std::span<const float> values, void* bytes, Convert convert) {
  auto* to = static_cast<unsigned char*>(bytes);
  for (float value : values) {
    const T converted = convert(value);
    std::memcpy(to, &converted, sizeof(T));
    to += sizeof(T);
  }
}

template <typename T>
T load(const void* bytes, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const unsigned char*>(bytes) + index * static_cast<std::int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

}  // namespace

void store_elements(DType type, std::span<const float> values, void* bytes) {
  switch (type) {
    case DType::kF64:
      return store_all<double>(values, bytes, [](float v) { return static_cast<double>(v); });
    case DType::kF32:
      if (!values.empty()) std::memcpy(bytes, values.data(), values.size_bytes());
      return;
    case DType::kF16:
      return store_all<std::uint16_t>(values, bytes, to_f16);
    case DType::kBF16:
      return store_all<std::uint16_t>(values, bytes, to_bf16);
    case DType::kS32:
      return store_all<std::int32_t>(
          values, bytes, [](float v) { return saturated<std::int32_t>(v, -2147483648.0, 2147483647.0); });
    case DType::kS8:
      return store_all<std::int8_t>(values, bytes,
                                    [](float v) { return saturated<std::int8_t>(v, -128, 127); });
    case DType::kU8:
      return store_all<std::uint8_t>(values, bytes,
                                     [](float v) { return saturated<std::uint8_t>(v, 0, 255); });
  }
  CHECK(false, "dtype {}", static_cast<int>(type));
}

double load_element(DType type, const void* bytes, std::int64_t index) {
  switch (type) {
    case DType::kF64:
      return load<double>(bytes, index);
    case DType::kF32:
      return load<float>(bytes, index);
    case DType::kF16:
      return from_f16(load<std::uint16_t>(bytes, index));
    case DType::kBF16:
      return from_bf16(load<std::uint16_t>(bytes, index));
    case DType::kS32:
      return load<std::int32_t>(bytes, index);
    case DType::kS8:
      return load<std::int8_t>(bytes, index);
    case DType::kU8:
      return load<std::uint8_t>(bytes, index);
  }
  CHECK(false, "dtype {}", static_cast<int>(type));
  return 0;
}

bool is_poison(DType type, const void* bytes, std::int64_t index) {
  if (type == DType::kS32 || type == DType::kS8 || type == DType::kU8) return false;
  const std::int64_t size = size_of(type);
  const auto* at = static_cast<const unsigned char*>(bytes) + index * size;
  return std::all_of(at, at + size, [](unsigned char byte) { return byte == kPoisonByte; });
}

}  // namespace lehr
