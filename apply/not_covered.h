// What of a network no kernel covers: by the engine's clock or, where that is not asked, by count.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apply/layers.h"
#include "network/places.h"

namespace lehr {

/// An operator's share of a time, 0 to 1.
struct OperatorShare {
  std::string name;
  double share = 0;
};

/// What kernels took over of a time, 0 to 1, and what they did not, the largest first. In sum 1.
struct TimeShares {
  double covered = 0;
  std::vector<OperatorShare> not_covered;
};
/// Shares of the original's time: layers without a kernel do not cover theirs. nullopt where there are none.
std::optional<TimeShares> time_shares(const std::vector<Layer>& layers);

/// By operator, the nodes whose operations are not counted: those of no place, and those of gaps of which
/// they are not known. Nodes that compute nothing an inference has to wait for are left out: another shape,
/// and what is known before the inputs are.
std::map<std::string, std::size_t> uncounted_nodes(const Network& network, const NetworkPlaces& places);

}  // namespace lehr
