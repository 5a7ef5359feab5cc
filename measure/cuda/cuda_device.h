// What a CUDA device is and can do, asked of a loaded driver. device.h has the entry that loads the driver
// itself.
#pragma once

#include <optional>
#include <string>

#include "measure/cuda/cuda_driver.h"
#include "measure/host/device.h"

namespace lehr {

/// nullopt with a reason in `why_not` when there is no such device or it is older than sm_80.
std::optional<Device> cuda_device_of(const CudaDriver& driver, int ordinal, std::string& why_not);

}  // namespace lehr
