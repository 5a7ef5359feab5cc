// Arrays whose elements are functions of a key and the element's index. Any range can be computed anywhere:
// on the host and on a device, by any number of threads.
#pragma once

#include <cstdint>

#include "base/hash.h"

namespace lehr {

/// Number of values that an element can have. Their distribution is that of the sum of four uniform 16-bit
/// numbers.
inline constexpr std::int64_t kInputSteps = 4 * 65535 + 1;

/// Returns the number of an element's value: the sum of the four 16-bit quarters of the generator's
/// `index`-th number.
constexpr std::int64_t input_step(std::uint64_t key, std::int64_t index) {
  const std::uint64_t bits = mix64(key + (static_cast<std::uint64_t>(index) + 1) * kSplitmixStep);
  return static_cast<std::int64_t>((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) +
                                   (bits >> 48));
}

}  // namespace lehr
