// The part of a network that the kernel families serve on a device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "network/layouts.h"
#include "network/matches.h"

namespace lehr {

/// Returns the matches of the network that apply() can replace. All other matches become gaps, with the same
/// reasons that apply() gives. A pool is part of a match only if a family on the device computes it together
/// with its convolution.
Matches served_matches(const Network& network, const Limits& limits);

/// Returns other_forms() of these matches for the kernel families of the device's target. Forms with channels
/// last are included only for devices whose kernels an engine calls. Throws Error(kUser) if `narrow` is true
/// and the network's opset has no operator that takes bf16.
OtherForms other_forms_on(const Network& network, const Matches& matches, const Limits& limits, bool narrow);

/// A workload of a network, and the kernel families that compute it.
struct ServedWorkload {
  const MatchedWorkload* matched;
  double share = 0;                        ///< share of the known operations
  std::vector<std::string_view> families;  ///< names of the kernel families
  std::string unserved;                    ///< the reason if no family computes it
};
/// Returns an entry per workload, which refers to `matches`.
std::vector<ServedWorkload> served_by(const Matches& matches, const Limits& limits);

}  // namespace lehr
