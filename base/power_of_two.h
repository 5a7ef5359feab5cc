// Whether a number is a power of two, in three instructions: std::has_single_bit calls a library function
// where the processor is not known to count bits, and the search asks for every divisor of every kernel.
#pragma once

#include <cstdint>

namespace lehr {

/// Returns false for numbers below 1.
constexpr bool is_power_of_two(std::int64_t x) {
  return x > 0 && (x & (x - 1)) == 0;
}

}  // namespace lehr
