#include "apply/not_covered.h"

#include <algorithm>

#include "apply/rewrite.h"
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

std::optional<TimeShares> time_shares(const std::vector<onnxruntime::OperatorTime>& operators,
                                      double original_us, double rewritten_us) {
  double all = 0, others = 0;
  for (const onnxruntime::OperatorTime& each : operators) {
    all += each.us;
    if (!is_fused_operator(each.name)) others += each.us;
  }
  if (all <= 0 || original_us <= 0 || rewritten_us <= 0) return std::nullopt;
  // What is slower than the original has covered nothing.
  const double left = std::min(1.0, others / all * rewritten_us / original_us);
  TimeShares shares = {1 - left, {}};
  for (const onnxruntime::OperatorTime& each : operators)
    if (!is_fused_operator(each.name) && each.us > 0)
      shares.not_covered.push_back({each.name, left * each.us / others});
  std::ranges::stable_sort(shares.not_covered, std::ranges::greater{}, &OperatorShare::share);
  return shares;
}

std::map<std::string, std::size_t> uncounted_nodes(const Network& network, const NetworkPlaces& places) {
  const std::vector<OnnxNode>& nodes = network.model.nodes;
  std::vector<bool> counted(nodes.size());
  for (const PlacedWorkload& placed : places.workloads)
    for (const NetworkPlace& place : placed.places)
      for (const auto* nodes : {&place.nodes, &place.before})
        for (const std::size_t node : *nodes) counted[node] = true;
  for (const Gap& gap : places.gaps)
    if (gap.flops > 0) counted[gap.node] = true;
  std::map<std::string, std::size_t> uncounted;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!counted[i] && !only_reshapes(nodes[i]) && !is_known_before(nodes[i], network.shapes))
      ++uncounted[std::string(nodes[i].op)];
  return uncounted;
}

}  // namespace lehr
