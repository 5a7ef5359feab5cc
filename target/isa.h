// What kernels for processors are made for: a level of instruction sets, and features beyond it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "runtime/cpu_levels.h"

namespace lehr {

using IsaLevel = runtime::CpuLevel;

/// Instructions that not every processor of a level has, and that kernels of some types use.
struct IsaFeature {
  std::string_view name;   ///< as `--isa`, the compilers' -m and a bundle's manifest have it
  std::string_view level;  ///< the lowest that it can be added to
  Ability ability;         ///< what kernels ask for
};

/// What `--isa` says.
struct Isa {
  const IsaLevel* level = nullptr;  ///< nullptr: native
  int abilities = 0;                ///< of the features beyond the level, or-ed
  bool operator==(const Isa&) const = default;
};

/// What `--isa` calls that of this machine, whatever it is.
inline constexpr std::string_view kNativeIsa = "native";

/// The level, of any target, that has this name; nullptr: none.
const IsaLevel* isa_level_named(std::string_view name);
/// "native", "x86-64-v3", "x86-64-v4+avx512vnni+avx512bf16", the features in any order. Throws Error(kUser),
/// one sentence, for a level or a feature that is not known, and for a feature that the level has no place
/// for.
Isa isa_named(std::string_view text);
/// That name, with the features in the order of their table. Native has none.
std::string name_of(const Isa& isa);

/// How any GCC or clang is told: "-march=x86-64-v4", "-mavx512vnni".
std::vector<std::string> flags_of(const Isa& isa);
/// What a compiler's identity, or a device's with one in it, was told so; native where it names no level.
Isa isa_said(std::string_view identity);

/// The names of the features that these abilities are of.
std::vector<std::string> feature_names(int abilities);

}  // namespace lehr
