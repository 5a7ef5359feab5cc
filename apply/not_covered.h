// What of a network no kernel covers: by the engine's clock or, where that is not asked, by count.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "network/places.h"

namespace lehr {

/// An operator's share of a time, 0 to 1.
struct OperatorShare {
  std::string name;
  double share = 0;
};

/// By operator, the nodes whose operations are not counted: those of no place, and those of gaps of which
/// they are not known. Nodes that compute nothing an inference has to wait for are left out: another shape,
/// and what is known before the inputs are.
std::map<std::string, std::size_t> uncounted_nodes(const Network& network, const NetworkPlaces& places);

}  // namespace lehr
