// The limit of processor time that a control group sets, for example for a container.
#pragma once

#include <string>

namespace lehr {

/// Returns the number of CPUs whose time this process may use: the minimum over its control group and all
/// groups above (cpu.max of version 2, cpu.cfs_quota_us of version 1; cgroups(7)). 0: no limit. `root` is the
/// folder with /proc and /sys.
double cpu_quota(const std::string& root = "");

}  // namespace lehr
