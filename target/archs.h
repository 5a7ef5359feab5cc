// Devices that need not be present: what a log's row and `--arch` say of one, as limits.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace lehr {

/// An instruction set that kernels are made and compiled for whatever more the machine at hand has.
struct IsaLevel {
  std::string_view name;     ///< as `--isa` and the compilers' -march= have it
  std::string_view machine;  ///< whose processors may have it, as uname calls them
  std::string_view arch;     ///< Limits::arch
};
/// What `--isa` calls that of this machine, whatever it is.
inline constexpr std::string_view kNativeIsa = "native";
/// The level, of any target, that has this name; nullptr: none.
const IsaLevel* isa_level_named(std::string_view name);
/// The level that a compiler's identity, or a device's with one in it, says with "-march="; nullptr: native,
/// or a target without levels.
const IsaLevel* isa_level_said(std::string_view identity);
/// The name of a level; nullptr is kNativeIsa.
std::string_view name_of(const IsaLevel* level);

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
};
const Archs& archs_of(Target target);
extern const Archs kCpuArchs, kCudaArchs;

}  // namespace lehr
