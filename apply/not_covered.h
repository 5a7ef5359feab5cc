// The part of a network that no kernel covers: by the engine's clock or, if that is not asked, by count.
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

/// The share of a time that kernels took over, 0 to 1, and the other shares, the largest first. They sum to
/// 1.
struct TimeShares {
  double covered = 0;
  std::vector<OperatorShare> not_covered;
};
/// Returns shares of the original's time: layers without a kernel do not cover theirs. nullopt without
/// layers.
std::optional<TimeShares> time_shares(const std::vector<Layer>& layers);

/// Returns, by operator, the nodes whose operations are not counted: those outside of matches, and those of
/// gaps with unknown operations. Nodes that compute nothing at run time are left out: changes of shape, and
/// values that are known before the inputs are.
std::map<std::string, std::size_t> uncounted_nodes(const Network& network, const Matches& matches);

}  // namespace lehr
