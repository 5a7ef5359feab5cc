// The CPUs that this process may run on, and the order in which threads take them.
#pragma once

#include <vector>

namespace lehr {

/// Returns the CPUs of the calling thread's affinity mask: first one hardware thread of each core, then their
/// siblings. If a control group limits the processor time (cpu_quota.h), returns only as many CPUs as the
/// limit is worth, rounded down, but at least one: with more threads, some would always be stopped.
std::vector<int> allowed_cpus();

/// Returns the CPUs of the calling thread's affinity mask, ascending; empty if the mask is not available.
std::vector<int> affinity();

/// Binds the calling thread to `cpus`. If a container forbids it, the thread stays unbound.
void pin_to_cpus(const std::vector<int>& cpus);

}  // namespace lehr
