// Tests whether a number is a power of two in three instructions. std::has_single_bit would call a library
// function if the processor is not known to have an instruction that counts bits, and the search makes this
// test for every divisor of every kernel.
#pragma once

#include <cstdint>

namespace lehr {

/// Returns false for numbers below 1.
constexpr bool is_power_of_two(std::int64_t x) {
  return x > 0 && (x & (x - 1)) == 0;
}

}  // namespace lehr
