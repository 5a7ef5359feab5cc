#include "measure/core/input_checksum.h"

#include <bit>
#include <cstring>

namespace lehr {

std::uint64_t input_checksum(const unsigned char* bytes, std::size_t count) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: spreads bits, as in splitmix64
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  std::size_t i = 0;
  for (; i + 32 <= count; i += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes + i, 32);
    for (int lane = 0; lane < 4; ++lane) lanes[lane] = std::rotl((lanes[lane] ^ words[lane]) * kOdd, 29);
  }
  for (; i < count; ++i) lanes[i % 4] = std::rotl((lanes[i % 4] ^ bytes[i]) * kOdd, 29);
  return lanes[0] ^ std::rotl(lanes[1], 16) ^ std::rotl(lanes[2], 32) ^ std::rotl(lanes[3], 48);
}

}  // namespace lehr
