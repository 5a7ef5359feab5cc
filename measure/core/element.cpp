#include "measure/core/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lehr {
namespace {

template <typename T>
T saturated(double value, double low, double high) {
  return static_cast<T>(std::clamp(std::nearbyint(value), low, high));
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
    case DType::kS7:
      return store_all<std::int8_t>(values, bytes,
                                    [](float v) { return saturated<std::int8_t>(v, -64, 64); });
    case DType::kU8:
      return store_all<std::uint8_t>(values, bytes,
                                     [](float v) { return saturated<std::uint8_t>(v, 0, 255); });
    case DType::kE4M3:
      return store_all<std::uint8_t>(values, bytes, to_e4m3);
    case DType::kE5M2:
      return store_all<std::uint8_t>(values, bytes, to_e5m2);
    case DType::kS16:
      return store_all<std::int16_t>(values, bytes,
                                     [](float v) { return saturated<std::int16_t>(v, -32768, 32767); });
    case DType::kU16:
      return store_all<std::uint16_t>(values, bytes,
                                      [](float v) { return saturated<std::uint16_t>(v, 0, 65535); });
    case DType::kS64:
      return store_all<std::int64_t>(
          values, bytes, [](float v) { return saturated<std::int64_t>(v, -0x1p63, 0x1.fffffep62); });
    case DType::kU32:
      return store_all<std::uint32_t>(values, bytes,
                                      [](float v) { return saturated<std::uint32_t>(v, 0, 4294967295.0); });
  }
  CHECK(false, "dtype {}", static_cast<int>(type));
}

std::vector<unsigned char> elements_of(DType type, std::span<const float> values) {
  std::vector<unsigned char> bytes(values.size() * static_cast<std::size_t>(size_of(type)));
  store_elements(type, values, bytes.data());
  return bytes;
}

void store_element(DType type, double value, void* bytes) {
  const auto put = [bytes](auto converted) { std::memcpy(bytes, &converted, sizeof converted); };
  switch (type) {
    case DType::kF64:
      return put(value);
    case DType::kS64:
      return put(saturated<std::int64_t>(value, -0x1p63, 0x1.fffffffffffffp62));
    case DType::kS32:
      return put(saturated<std::int32_t>(value, -2147483648.0, 2147483647.0));
    case DType::kU32:
      return put(saturated<std::uint32_t>(value, 0, 4294967295.0));
    default: {
      const auto narrow = static_cast<float>(value);
      return store_elements(type, {&narrow, 1}, bytes);
    }
  }
}

double load_element(DType type, const void* bytes, std::int64_t index) {
  return with_elements(type, bytes, [index](const auto& load) { return static_cast<double>(load(index)); });
}

bool is_poison(DType type, const void* bytes, std::int64_t index) {
  if (is_integer(type)) return false;
  const std::int64_t size = size_of(type);
  const auto* at = static_cast<const unsigned char*>(bytes) + index * size;
  return std::all_of(at, at + size, [](unsigned char byte) { return byte == kPoisonByte; });
}

}  // namespace lehr
