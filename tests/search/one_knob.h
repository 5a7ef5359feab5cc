// The smallest configs: one family with one knob.
#pragma once

#include <cstdint>
#include <limits>

#include "space/config.h"

namespace lehr::testing {

/// The only knob "x" of the family "f".
inline Config at(std::int64_t value) {
  return {"f", {{"x", value}}};
}
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace lehr::testing
