// The identity and the limits of a CUDA device, from the driver.
#pragma once

#include <optional>
#include <string>

#include "measure/cuda/cuda_driver.h"
#include "record/device.h"

namespace lehr {

/// Returns the device. If it does not exist, or its architecture is not known (target/cuda/archs.h), returns
/// nullopt and sets `why_not` to the reason.
std::optional<Device> cuda_device_of(const CudaDriver& driver, int ordinal, std::string& why_not);
/// Returns a device of the installed driver. If there is no driver, also returns nullopt and sets `why_not`.
std::optional<Device> cuda_device(int ordinal, std::string& why_not);

}  // namespace lehr
