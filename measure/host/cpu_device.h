// Facts of this CPU.
#pragma once

#include "measure/core/device.h"

namespace lehr {

/// The CPU that this runs on, allowed `threads` threads (0: all that the affinity mask grants).
/// Peak rates are measured in some tens of milliseconds when `measure_rates`, else left 0.
Device cpu_device(int threads, bool measure_rates);

}  // namespace lehr
