// Devices that need not be present: what a log's row and `--arch` say of one, as limits.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "target/isa.h"

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
  /// Those of `--isa`, of every machine, a machine's lower ones first; none where `--arch` says it all.
  std::span<const IsaLevel> levels = {};
  /// Those that may be added to a level, in the order in which name_of() has them.
  std::span<const IsaFeature> features = {};
};
const Archs& archs_of(Target target);
extern const Archs kCpuArchs, kCudaArchs;

}  // namespace lehr
