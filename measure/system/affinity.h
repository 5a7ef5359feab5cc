// The CPUs that this process may run on, and the order in which threads take them.
#pragma once

#include <vector>

namespace lehr {

/// Returns the CPUs of the calling thread's affinity mask: one hardware thread of each core first, siblings
/// after. If a control group grants less time (cpu_quota.h), as many of them as it grants whole, at least
/// one: more threads would be stopped in turn.
std::vector<int> allowed_cpus();

/// Returns the CPUs of the calling thread's affinity mask, ascending; empty if the mask is not available.
std::vector<int> affinity();

/// Binds the calling thread to `cpus`. Best effort: if a container forbids it, the thread is not bound.
void pin_to_cpus(const std::vector<int>& cpus);

}  // namespace lehr
