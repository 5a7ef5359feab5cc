// The input of a kernel's self-test: export computes the output that it has to give, the library runs it.
#pragma once

#include <cstdint>

namespace lehr::runtime {

/// Element `index` of parameter `param`: a multiple of 1/8 from -1.5 to 1.375, without order, so that sums
/// are not exact and no element is like its neighbours.
inline float self_test_input(std::uint32_t param, std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + param * 0xd1b54a32d192ed03u;  // splitmix64's steps
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (static_cast<float>((x >> 33) % 24) - 12.0F) / 8.0F;
}

}  // namespace lehr::runtime
