// Arrays whose elements are functions of a key and their index. Any range of one can be made anywhere: on the
// host and on a device, by any number of threads.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace lehr {

/// Number of values that an element can have. They are distributed as the sum of four uniform 16-bit numbers.
inline constexpr std::int64_t kInputSteps = 4 * 65535 + 1;

/// Returns which of the values an element has: the sum of the four 16-bit quarters of the generator's number
/// `index`.
constexpr std::int64_t input_step(std::uint64_t key, std::int64_t index) {
  const std::uint64_t bits = mix64(key + (static_cast<std::uint64_t>(index) + 1) * kSplitmixStep);
  return static_cast<std::int64_t>((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) +
                                   (bits >> 48));
}

}  // namespace lehr
