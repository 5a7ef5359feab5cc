// Uses RLIMIT_DATA, which counts private writable mappings, but not mapped files and libraries.
#include "measure/system/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace lehr {

void limit_memory(std::int64_t bytes) {
  if (!kMemoryIsLimited) return;
  if (bytes <= 0) bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, static_cast<rlim_t>(bytes));
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace lehr
