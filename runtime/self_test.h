// The input of a kernel's self-test. The export computes the expected output from it, and the library runs
// the kernel on it.
#pragma once

#include <cstdint>
#include <string_view>

namespace lehr::runtime {

/// Returns element `index` of parameter `param`: a pseudo-random multiple of 1/8 from -1.5 to 1.375.
/// Neighbouring elements are not related.
inline float self_test_input(std::uint32_t param, std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + param * 0xd1b54a32d192ed03u;  // splitmix64's steps
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (static_cast<float>((x >> 33) % 24) - 12.0F) / 8.0F;
}

/// A type of tensors in self-tests: f32, bf16, or integers with their range.
struct TestedType {
  std::string_view name;
  std::uint32_t bytes;
  bool is_integer = false;
  double least = 0, most = 0;
};
// Not within the inline function, since a linker would merge the arrays of all libraries in a program.
constexpr TestedType kTestedTypes[] = {{"f32", 4},
                                       {"bf16", 2},
                                       {"s32", 4, true, -2147483648.0, 2147483647.0},
                                       {"s8", 1, true, -128, 127},
                                       {"s7", 1, true, -64, 64},
                                       {"u8", 1, true, 0, 255}};
/// Returns the type with this name; nullptr if self-tests do not support it.
inline const TestedType* tested_type(std::string_view name) {
  for (const TestedType& type : kTestedTypes)
    if (type.name == name) return &type;
  return nullptr;
}

/// Returns element `index` of parameter `param`, which has this type: mean + deviation * self_test_input().
/// For integers it is rounded to the nearest integer in the type's range. In bf16 a mean of 0 and a deviation
/// of 1 are exact.
inline float self_test_value(const TestedType& type, std::uint32_t param, std::uint64_t index, double mean,
                             double deviation) {
  const double value = mean + deviation * static_cast<double>(self_test_input(param, index));
  if (!type.is_integer) return static_cast<float>(value);
  const double inside = value < type.least ? type.least : value > type.most ? type.most : value;
  return static_cast<float>(static_cast<std::int64_t>(inside < 0 ? inside - 0.5 : inside + 0.5));
}

}  // namespace lehr::runtime
