// The smallest points: of one family with one knob.
#pragma once

#include <cstdint>
#include <limits>

#include "space/point.h"

namespace lehr::testing {

inline Point at(std::uint16_t position) {
  return {0, {position}};
}
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace lehr::testing
