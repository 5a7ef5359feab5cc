// How much processor time a control group grants, as containers bound it.
#pragma once

#include <string>

namespace lehr {

/// CPUs' worth of time that the control groups of this process grant it (cpu.max of version 2,
/// cpu.cfs_quota_us of version 1; cgroups(7)): the least of the group's own and all those above it; 0: no
/// bound. `root` is what /proc and /sys lie in.
double cpu_quota(const std::string& root = "");

}  // namespace lehr
