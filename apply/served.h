// The part of a network that the kernel families serve on a device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "network/layouts.h"
#include "network/matches.h"

namespace lehr {

/// Returns the network's matches that apply() can replace. The others are gaps, with apply()'s reasons. Pools
/// that no family on the device computes together with their convolution are left out: they stay nodes.
Matches served_matches(const Network& network, const Limits& limits);

/// Returns other_forms() of these matches with the families for the device's target. Channels are last only
/// where an engine calls its kernels. Throws Error(kUser) for bf16 in a network whose opset has no operator
/// that takes it.
OtherForms other_forms_on(const Network& network, const Matches& matches, const Limits& limits, bool narrow);

/// A workload of a network, and who computes it.
struct ServedWorkload {
  const MatchedWorkload* matched;
  double share = 0;                        ///< of the known operations
  std::vector<std::string_view> families;  ///< their names
  std::string unserved;                    ///< the reason if there is no family
};
/// Returns an entry per workload, which refers to `matches`.
std::vector<ServedWorkload> served_by(const Matches& matches, const Limits& limits);

}  // namespace lehr
