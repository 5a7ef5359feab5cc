// The features that the verifier lets the kernels of each target use, in addition to the features of
// base/target.h.
#pragma once

#include <array>
#include <string>

#include "base/target.h"

namespace lehr::ir {

struct Allowed {
  /// Constant inputs may be converted to another layout once, before the first launch.
  bool prepack = false;
  /// Blocks may access the shared memory of other blocks in their cluster.
  bool clusters = false;
  /// A parameter may be a tensor map in place of the tensor's address.
  bool tensor_maps = false;
  /// A launch may begin before the previous launch has ended.
  bool overlap = false;
  /// Vectors may be cast, compared and stored past the caches. Vectors of narrow types may be multiplied by
  /// groups of neighbours. bf16 may be cast.
  bool groups = false;
  /// Casts from and to floating-point types below 32 bits are allowed.
  bool small_floats = false;
  /// The intrinsics that are instructions of NVIDIA's devices are allowed.
  bool ptx = false;
};

/// In the order of kTargets.
inline constexpr std::array kAllowed = {
    Allowed{.prepack = true, .groups = true},
    Allowed{.clusters = true, .tensor_maps = true, .overlap = true, .small_floats = true, .ptx = true},
};
static_assert(kAllowed.size() == kTargets.size());

constexpr bool allows(Target target, bool Allowed::* what) {
  return kAllowed[target.index()].*what;
}

/// Returns the names of the targets for which `holds` is true, for a message: "cuda".
template <typename Predicate>
std::string names_where(Predicate holds) {
  std::string names;
  for (const Target target : kTargets)
    if (holds(target)) (names += names.empty() ? "" : " and ") += name_of(target);
  return names;
}
inline std::string names_with(bool Allowed::* what) {
  return names_where([what](Target target) { return allows(target, what); });
}
inline std::string names_with(Feature feature) {
  return names_where([feature](Target target) { return target.has(feature); });
}

}  // namespace lehr::ir
