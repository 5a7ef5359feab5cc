// Facts of this CPU.
#pragma once

#include "record/device.h"
#include "target/archs.h"

namespace lehr {

/// The CPU that this runs on, allowed `threads` threads (0: all that the affinity mask grants).
/// Peak rates are measured in some tens of milliseconds when `measure_rates`, else left 0. Vectors and peak
/// are those of the level where there is one, and abilities are those of `isa`; throws Error(kEnvironment)
/// where the level has wider vectors than this CPU.
Device cpu_device(int threads, bool measure_rates, const Isa& isa = {});

}  // namespace lehr
