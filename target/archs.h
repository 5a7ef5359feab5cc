// Devices that need not be present: what a log's row and `--arch` say of one, as limits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace lehr {

/// One value per target (table.cpp).
struct Archs {
  /// The names that `--arch` takes; none where a kernel depends on more than the arch.
  std::vector<std::string> (*known)() = nullptr;
  /// The limits of a device of that arch with so many cores (0: as many as is usual), and what is usual
  /// besides. May throw Error(kUser) for an unknown arch, naming the known ones.
  Limits (*limits)(std::string_view arch, int cores) = nullptr;
  /// Whether kernels depend on the arch alone: what was measured elsewhere is lowered here as it was there.
  bool portable = false;
};
const Archs& archs_of(Target target);
extern const Archs kCpuArchs, kCudaArchs;

}  // namespace lehr
