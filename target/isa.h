// The instruction sets for which CPU kernels can be compiled: a level, and features in addition to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "runtime/cpu_levels.h"

namespace lehr {

using IsaLevel = runtime::CpuLevel;

/// Instructions that only some processors of a level have. Kernels of some types use them.
struct IsaFeature {
  std::string_view name;   ///< name in `--isa`, in the compilers' -m and in a bundle's manifest
  std::string_view level;  ///< the lowest level to which the feature can be added
  Ability ability;         ///< the ability that kernels require
};

/// A value of `--isa`.
struct Isa {
  const IsaLevel* level = nullptr;  ///< nullptr: native
  int abilities = 0;                ///< abilities of the features in addition to the level, or-ed
  bool operator==(const Isa&) const = default;
};

/// Value of `--isa` for the instruction set of this machine.
inline constexpr std::string_view kNativeIsa = "native";

/// Returns the level, of any target, with this name; nullptr for an unknown one.
const IsaLevel* isa_level_named(std::string_view name);
/// Parses a level and features, the latter in any order: "native", "x86-64-v3",
/// "x86-64-v4+avx512vnni+avx512bf16". Throws Error(kUser) with one sentence for an unknown level or feature,
/// and for a feature that cannot be added to the level.
Isa isa_named(std::string_view text);
/// Returns the name that isa_named() parses, with the features in the order of their table. "native" has no
/// features.
std::string name_of(const Isa& isa);

/// Returns the flags for GCC and clang: "-march=x86-64-v4", "-mavx512vnni".
std::vector<std::string> flags_of(const Isa& isa);
/// Returns the instruction set for which a compiler produces code, read from its identity. `identity` may
/// also be a device's identity, which contains the compiler's. Returns native if no level is mentioned.
Isa isa_of_identity(std::string_view identity);

/// Returns the names of the features that have these abilities.
std::vector<std::string> feature_names(int abilities);

}  // namespace lehr
