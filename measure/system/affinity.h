// Which CPUs this process may run on, and in what order threads should take them.
#pragma once

#include <vector>

namespace lehr {

/// CPU numbers of the calling thread's affinity mask, one hardware thread of every core first, siblings
/// after. Where a control group grants less time (cpu_quota.h), as many of them as it grants whole, and at
/// least one: threads beyond that would be stopped in turn.
std::vector<int> allowed_cpus();

/// CPU numbers of the calling thread's affinity mask, ascending; none where it cannot be asked.
std::vector<int> affinity();

/// Binds the calling thread to `cpus`. Best effort: a container may forbid it, and then the thread stays
/// as it was.
void pin_to_cpus(const std::vector<int>& cpus);

}  // namespace lehr
