// A device as logs name it, found without what measuring needs.
#pragma once

#include <string>

#include "tune/open_device.h"

namespace lehr {

/// As choose_device() finds it, with its compiler and its caches and without rates: enough to ask a log for
/// its rows, in a tenth of a second. Throws as choose_device, and where the compiler is missing.
Device identified_device(const DeviceChoice& choice, const Workload& workload, const ToolPaths& tools,
                         std::string& note);

}  // namespace lehr
