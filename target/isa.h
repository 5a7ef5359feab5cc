// The instruction sets that CPU kernels are made for: a level, and features beyond it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "runtime/cpu_levels.h"

namespace lehr {

using IsaLevel = runtime::CpuLevel;

/// Instructions that only some processors of a level have, and that kernels of some types use.
struct IsaFeature {
  std::string_view name;   ///< its name in `--isa`, the compilers' -m and a bundle's manifest
  std::string_view level;  ///< the lowest level that it can be added to
  Ability ability;         ///< the ability that kernels ask for
};

/// A value of `--isa`.
struct Isa {
  const IsaLevel* level = nullptr;  ///< nullptr: native
  int abilities = 0;                ///< abilities of the features beyond the level, or-ed
  bool operator==(const Isa&) const = default;
};

/// Value of `--isa` for the instruction set of this machine.
inline constexpr std::string_view kNativeIsa = "native";

/// Returns the level, of any target, with this name; nullptr for an unknown one.
const IsaLevel* isa_level_named(std::string_view name);
/// Parses "native", "x86-64-v3", "x86-64-v4+avx512vnni+avx512bf16", the features in any order. Throws
/// Error(kUser), one sentence, for an unknown level or feature, and for a feature that cannot be added to the
/// level.
Isa isa_named(std::string_view text);
/// Returns that name, with the features in the order of their table. Native has no features.
std::string name_of(const Isa& isa);

/// Returns the flags for any GCC or clang: "-march=x86-64-v4", "-mavx512vnni".
std::vector<std::string> flags_of(const Isa& isa);
/// Returns the instruction set in a compiler's identity, or in a device's that contains one; native if it
/// names no level.
Isa isa_said(std::string_view identity);

/// Returns the names of the features with these abilities.
std::vector<std::string> feature_names(int abilities);

}  // namespace lehr
