// The processor time that a control group grants, as containers limit it.
#pragma once

#include <string>

namespace lehr {

/// Returns how many CPUs' time the control groups of this process grant it (cpu.max of version 2,
/// cpu.cfs_quota_us of version 1; cgroups(7)): the least of its own group and all groups above; 0: no bound.
/// `root` is the folder that has /proc and /sys.
double cpu_quota(const std::string& root = "");

}  // namespace lehr
