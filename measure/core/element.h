// Elements of tensors as bytes: conversions between f32 and a device's types, and the poison in outputs
// before a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "base/small_float.h"

namespace lehr {

/// The byte that fills poisoned memory. Four such bytes are a NaN in f32, two in f16 and bf16, eight in f64,
/// and no arithmetic produces this NaN. In integers the bytes are -1 (255 in u8), which a right result may
/// hold.
inline constexpr unsigned char kPoisonByte = 0xFF;

/// Writes `values` as `type` to `bytes` (values.size() * size_of(type) bytes). Rounds to nearest even;
/// integers saturate.
void store_elements(DType type, std::span<const float> values, void* bytes);
/// Returns the bytes that store_elements() writes, as a new array.
std::vector<unsigned char> elements_of(DType type, std::span<const float> values);
/// Calls body(load) once. load(index) returns element `index` of the array at `bytes` as a double (for s64 as
/// an int64). Loops over many elements should be inside the body, so that the type is decided once.
template <typename Body>
auto with_elements(DType type, const void* bytes, const Body& body) {
  const auto bits = [bytes]<typename T>(T, std::int64_t index) {
    T value;
    std::memcpy(&value,
                static_cast<const unsigned char*>(bytes) + index * static_cast<std::int64_t>(sizeof(T)),
                sizeof(T));
    return value;
  };
  const auto plain = [&]<typename T>(T one) {
    return body([=](std::int64_t index) { return static_cast<double>(bits(one, index)); });
  };
  const auto small = [&]<typename T>(T one, float (*value_of)(T)) {
    return body([=](std::int64_t index) { return static_cast<double>(value_of(bits(one, index))); });
  };
  switch (type) {
    case DType::kF64:
      return plain(double{});
    case DType::kF32:
      return plain(float{});
    case DType::kS32:
      return plain(std::int32_t{});
    case DType::kS16:
      return plain(std::int16_t{});
    case DType::kU32:
      return plain(std::uint32_t{});
    case DType::kU16:
      return plain(std::uint16_t{});
    case DType::kS64:
      return body([=](std::int64_t index) { return bits(std::int64_t{}, index); });
    case DType::kS8:
    case DType::kS7:
      return plain(std::int8_t{});
    case DType::kU8:
      return plain(std::uint8_t{});
    case DType::kF16:
      return small(std::uint16_t{}, &from_f16);
    case DType::kBF16:
      return small(std::uint16_t{}, &from_bf16);
    case DType::kE4M3:
      return small(std::uint8_t{}, &from_e4m3);
    case DType::kE5M2:
      return small(std::uint8_t{}, &from_e5m2);
  }
  CHECK(false, "dtype {}", static_cast<int>(type));
  return plain(double{});
}

/// Writes one element as store_elements() does. The value is a double because, unlike a float, a double can
/// hold all values of s32 and f64.
void store_element(DType type, double value, void* bytes);
/// Returns element `index` of an array of `type`.
double load_element(DType type, const void* bytes, std::int64_t index);
/// Whether element `index` still holds the poison. Always false for integers (see kPoisonByte).
bool is_poison(DType type, const void* bytes, std::int64_t index);

}  // namespace lehr
