// Tests of the bounds of containers, in the files that both versions of control groups have.
#include "measure/system/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "measure/system/temp_dir.h"

namespace lehr::testing {
namespace {

double quota_of(const std::vector<std::pair<std::string, std::string>>& files) {
  const TempDir directory;
  for (const auto& [path, text] : files) {
    const std::string full = directory.path() + path;
    std::filesystem::create_directories(std::filesystem::path(full).parent_path());
    std::ofstream(full) << text;
  }
  return cpu_quota(directory.path());
}

TEST(CpuQuota, IsTheLeastOfAllGroupsAbove) {
  EXPECT_EQ(quota_of({{"/proc/self/cgroup", "0::/a/b\n"},
                      {"/sys/fs/cgroup/a/b/cpu.max", "max 100000\n"},
                      {"/sys/fs/cgroup/a/cpu.max", "150000 100000\n"},
                      {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}}),
            1.5);
}

TEST(CpuQuota, IsThatOfAContainersOwnRoot) {
  EXPECT_EQ(quota_of({{"/proc/self/cgroup", "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}}), 2);
  EXPECT_EQ(quota_of({{"/proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/docker/x\n"},
                      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"},
                      {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"}}),
            0.5);
}

TEST(CpuQuota, IsNoneWhereNothingBounds) {
  EXPECT_EQ(quota_of({}), 0);
  EXPECT_EQ(quota_of({{"/proc/self/cgroup", "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "max 100000\n"}}), 0);
  EXPECT_EQ(quota_of({{"/proc/self/cgroup", "1:cpu:/\n"},
                      {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                      {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}}),
            0);
  EXPECT_EQ(quota_of({{"/proc/self/cgroup", "no colon\n0::\n:\n"}}), 0);
}

}  // namespace
}  // namespace lehr::testing
