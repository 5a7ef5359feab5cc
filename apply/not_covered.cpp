#include "apply/not_covered.h"

#include <algorithm>

#include "network/constants.h"

namespace lehr {
namespace {

bool is_known_before(const OnnxNode& node, const GraphShapes& shapes) {
  return std::ranges::all_of(node.outputs, [&](std::string_view output) {
    const ValueFacts& facts = shapes.of(output);
    return output.empty() || facts.fixed || facts.wholes;
  });
}

}  // namespace

std::map<std::string, std::size_t> uncounted_nodes(const Network& network, const NetworkPlaces& places) {
  const std::vector<OnnxNode>& nodes = network.model.nodes;
  std::vector<bool> counted(nodes.size());
  for (const PlacedWorkload& placed : places.workloads)
    for (const NetworkPlace& place : placed.places)
      for (const std::size_t node : place.nodes) counted[node] = true;
  for (const Gap& gap : places.gaps)
    if (gap.flops > 0) counted[gap.node] = true;
  std::map<std::string, std::size_t> uncounted;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!counted[i] && !only_reshapes(nodes[i]) && !is_known_before(nodes[i], network.shapes))
      ++uncounted[std::string(nodes[i].op)];
  return uncounted;
}

}  // namespace lehr
