// /proc/self/cgroup names the groups, and /sys/fs/cgroup has their files.
#include "measure/system/cpu_quota.h"

#include <algorithm>
#include <fstream>

namespace lehr {
namespace {

/// Parses "150000 100000". The first number is the microseconds allowed in each period, and the second is the
/// length of a period. "max": no limit.
double quota_of_version_2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period && quota > 0 && period > 0 ? quota / period : 0;
}

double quota_of_version_1(const std::string& folder) {
  double quota = 0, period = 0;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;  // -1: no limit
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// Returns the least limit of `group`, which begins with a slash, and of the groups above it. Within a
/// container a group may have the name that it has on the host; then only "/" exists.
double least_above(const std::string& mount, std::string group, double (*quota_of)(const std::string&)) {
  double least = 0;
  while (true) {
    if (group == "/") group.clear();
    const double quota = quota_of(mount + group);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
    if (group.empty()) return least;
    group.resize(group.rfind('/'));
  }
}

}  // namespace

double cpu_quota(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  const std::string mounts = root + "/sys/fs/cgroup";
  double least = 0;
  for (std::string line; std::getline(groups, line);) {
    // The line is "0::/group" for version 2, and "4:cpu,cpuacct:/group" for version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/') continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    double quota = 0;
    if (controllers.empty()) {
      quota = std::max(least_above(mounts, group, quota_of_version_2),
                       least_above(mounts + "/unified", group, quota_of_version_2));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      quota = least_above(mounts + "/" + controllers, group, quota_of_version_1);
    }
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

}  // namespace lehr
