// Division rounded up: the number of pieces of one size that cover an extent.
#pragma once

#include <cstdint>

namespace lehr {

/// Returns a / b, rounded up; a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace lehr
