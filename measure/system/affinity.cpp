// Reads the affinity mask and the kernel's topology files.
#include "measure/system/affinity.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "measure/system/cpu_quota.h"

namespace lehr {
namespace {

/// Returns (package, core) of a CPU. Returns (-1, cpu) if the kernel does not report it, so that each CPU
/// counts as a core.
std::pair<int, int> core_of(int cpu) {
  const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
  int package = -1;
  int core = -1;
  std::ifstream(folder + "physical_package_id") >> package;
  std::ifstream core_file(folder + "core_id");
  if (!(core_file >> core)) return {-1, cpu};
  return {package, core};
}

}  // namespace

std::vector<int> affinity() {
  std::vector<int> allowed;
  // The kernel needs a mask that is at least as long as its own. The mask grows until it fits.
  for (int bits = 1024; bits <= 1 << 20; bits *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(bits));
    if (mask == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(bits));
    const bool fits = sched_getaffinity(0, bytes, mask) == 0;
    if (fits) {
      for (int cpu = 0; cpu < bits; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask)) allowed.push_back(cpu);
      }
    }
    CPU_FREE(mask);
    if (fits) break;
  }
  return allowed;
}

std::vector<int> allowed_cpus() {
  std::vector<int> allowed = affinity();
  if (allowed.empty()) {
    const int count = static_cast<int>(std::thread::hardware_concurrency());
    for (int cpu = 0; cpu < (count > 0 ? count : 1); ++cpu) allowed.push_back(cpu);
  }
  std::set<std::pair<int, int>> seen;
  std::vector<int> ordered;
  std::vector<int> siblings;
  for (int cpu : allowed) (seen.insert(core_of(cpu)).second ? ordered : siblings).push_back(cpu);
  ordered.insert(ordered.end(), siblings.begin(), siblings.end());
  if (const double quota = cpu_quota(); quota > 0 && quota < static_cast<double>(ordered.size()))
    ordered.resize(std::max<std::size_t>(1, static_cast<std::size_t>(quota)));
  return ordered;
}

void pin_to_cpus(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  const auto count = static_cast<std::size_t>(*std::ranges::max_element(cpus) + 1);
  cpu_set_t* mask = CPU_ALLOC(count);
  if (mask == nullptr) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, mask);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask);
  pthread_setaffinity_np(pthread_self(), bytes, mask);
  CPU_FREE(mask);
}

}  // namespace lehr
