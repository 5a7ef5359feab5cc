// Limits of devices that need not be present: of those that a row of a log or `--arch` names.
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
  /// Returns the names that `--arch` accepts. Empty if kernels depend on more than the arch.
  std::vector<std::string> (*known)() = nullptr;
  /// Returns the limits of a device of that arch. It has `cores` cores (0: the usual number), and usual
  /// values for everything else. May throw Error(kUser) for an unknown arch; the message lists the known
  /// ones.
  Limits (*limits)(std::string_view arch, int cores) = nullptr;
  /// Whether kernels depend on the arch alone. If so, a kernel that was measured on another machine is
  /// lowered here to the same text.
  bool portable = false;
  /// Levels that `--isa` accepts, for all kinds of machines; for each kind the lower levels come first. Empty
  /// if `--arch` is enough.
  std::span<const IsaLevel> levels = {};
  /// Features that can be added to a level, in the order of name_of().
  std::span<const IsaFeature> features = {};
};
const Archs& archs_of(Target target);
extern const Archs kCpuArchs, kCudaArchs;

}  // namespace lehr
