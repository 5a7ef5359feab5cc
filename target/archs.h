// Limits of devices that need not be present, from a log's row or `--arch`.
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
  /// Returns the names that `--arch` takes. Empty if a kernel depends on more than the arch.
  std::vector<std::string> (*known)() = nullptr;
  /// Returns the limits of a device of that arch with `cores` cores (0: the usual number), and usual values
  /// for the rest. May throw Error(kUser) for an unknown arch, naming the known ones.
  Limits (*limits)(std::string_view arch, int cores) = nullptr;
  /// Whether kernels depend on the arch alone. If so, a kernel that was measured elsewhere is lowered here in
  /// the same way.
  bool portable = false;
  /// Levels of `--isa` for all machines, a machine's lower ones first. Empty if `--arch` is enough.
  std::span<const IsaLevel> levels = {};
  /// Features that may be added to a level, in the order of name_of().
  std::span<const IsaFeature> features = {};
};
const Archs& archs_of(Target target);
extern const Archs kCpuArchs, kCudaArchs;

}  // namespace lehr
