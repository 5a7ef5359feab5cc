// The identity and the limits of a CUDA device, asked of the driver.
#pragma once

#include <optional>
#include <string>

#include "measure/cuda/cuda_driver.h"
#include "record/device.h"

namespace lehr {

/// Returns the device; nullopt with a reason in `why_not` if it does not exist, or its architecture is not
/// known (target/cuda/archs.h).
std::optional<Device> cuda_device_of(const CudaDriver& driver, int ordinal, std::string& why_not);
/// Returns a device of the installed driver; nullopt with a reason also if there is no driver.
std::optional<Device> cuda_device(int ordinal, std::string& why_not);

}  // namespace lehr
