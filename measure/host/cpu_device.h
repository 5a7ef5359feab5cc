// Facts about this CPU.
#pragma once

#include "record/device.h"
#include "target/archs.h"

namespace lehr {

/// Returns this CPU with `threads` allowed threads (0: all that the affinity mask grants). `measure_rates`:
/// peak rates are measured in some tens of milliseconds; if false, they are 0. If `isa` has a level, vectors
/// and peak are those of the level, and the features are those of `isa`. Throws Error(kEnvironment) if the
/// level has wider vectors than this CPU.
Device cpu_device(int threads, bool measure_rates, const Isa& isa = {});

}  // namespace lehr
