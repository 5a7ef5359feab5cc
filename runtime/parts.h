// Which calls of kernels of some sizes compute a number of rows (or images) in the least time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/memory.h"

namespace lehr::runtime {

/// What one call computes, and the time that it takes, more than 0, with all that a call costs.
struct PartSize {
  std::uint64_t rows = 1;
  double us = 0;
};

/// So many calls of one size.
struct PartCalls {
  std::uint32_t size = 0;  ///< index of it
  std::uint64_t count = 0;
};

/// Different ones among the calls that are found.
inline constexpr std::size_t kMostSizesOfParts = 32;
/// About a millisecond. With two dozen sizes as people tune them some hundred are taken.
inline constexpr std::size_t kMostStepsForParts = 1 << 14;

/// Adds calls that cover `rows`, which is at least 1 and which no size is larger than. They lie one behind
/// the other in this order; where they are more than `rows`, the last one begins at rows - its size and
/// computes some a second time. Returns their time: the least there is, or, where the search has reached its
/// limits, the least that it has met. Infinite, and nothing is added, where there is no size or no memory.
double cheapest_calls(const Array<PartSize>& sizes, std::uint64_t rows, Array<PartCalls>& calls);

}  // namespace lehr::runtime
