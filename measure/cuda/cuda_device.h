// What a CUDA device is and can do, asked of the driver.
#pragma once

#include <optional>
#include <string>

#include "measure/cuda/cuda_driver.h"
#include "record/device.h"

namespace lehr {

/// nullopt with a reason in `why_not` when there is no such device, or one of an
/// architecture that is not known here (target/cuda/archs.h).
std::optional<Device> cuda_device_of(const CudaDriver& driver, int ordinal, std::string& why_not);
/// The same of the installed driver; a reason, too, when there is none.
std::optional<Device> cuda_device(int ordinal, std::string& why_not);

}  // namespace lehr
