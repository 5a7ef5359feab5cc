// The part of a network that no kernel covers. It is stated as a share of the engine's time or, without
// measured times, as the number of nodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apply/layers.h"
#include "network/matches.h"

namespace lehr {

/// An operator's share of a time, 0 to 1.
struct OperatorShare {
  std::string name;
  double share = 0;
};

/// `covered` is the share of the original network's time, 0 to 1, in nodes that kernels have replaced.
/// `not_covered` has the shares of operators without kernels, the largest first. All shares together sum to
/// 1.
struct TimeShares {
  double covered = 0;
  std::vector<OperatorShare> not_covered;
};
/// Returns the shares of the original network's time. The time of layers without a kernel counts as not
/// covered. Returns nullopt if there are no layers.
std::optional<TimeShares> time_shares(const std::vector<Layer>& layers);

/// Returns, by operator, the number of nodes whose operations are not counted. These nodes are in no match,
/// or they are gaps whose operations are not known. Nodes that compute nothing at run time are left out: they
/// only change a shape, or compute a value that does not depend on the inputs.
std::map<std::string, std::size_t> uncounted_nodes(const Network& network, const Matches& matches);

}  // namespace lehr
