// How many clusters of blocks a CUDA device runs at the same time, asked of the driver.
#pragma once

#include <array>

#include "base/limits.h"
#include "measure/cuda/cuda_driver.h"

namespace lehr {

/// Limits::clusters_at_once of a device of compute capability 9.0 or more, whose other limits are `limits`. 0
/// where the driver has no answer. Makes the device's context, and lets it go.
std::array<int, 3> clusters_at_once(const CudaDriver& driver, int ordinal, const Limits& limits);

}  // namespace lehr
