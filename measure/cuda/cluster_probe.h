// Asks the driver how many clusters of blocks a CUDA device runs at the same time.
#pragma once

#include <array>

#include "base/limits.h"
#include "measure/cuda/cuda_driver.h"

namespace lehr {

/// Returns Limits::clusters_at_once of a device of compute capability 9.0 or more; 0 if the driver has no
/// answer. `limits` are the device's other limits. Makes the device's context, and releases it.
std::array<int, 3> clusters_at_once(const CudaDriver& driver, int ordinal, const Limits& limits);

}  // namespace lehr
