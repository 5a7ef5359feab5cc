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

std::optional<TimeShares> time_shares(const std::vector<Layer>& layers) {
  double original_us = 0, left_us = 0;
  std::map<std::string, double> operators;
  for (const Layer& each : layers) {
    original_us += each.before_us;
    if (each.kernel || each.after_us <= 0) continue;
    left_us += each.after_us;
    operators[each.op] += each.after_us;
  }
  if (original_us <= 0) return std::nullopt;
  // If layers became slower, the time that is not covered may exceed the original's. Nothing is covered then.
  const double all_us = std::max(original_us, left_us);
  TimeShares shares = {1 - left_us / all_us, {}};
  for (const auto& [op, us] : operators) shares.not_covered.push_back({op, us / all_us});
  std::ranges::stable_sort(shares.not_covered, std::ranges::greater{}, &OperatorShare::share);
  return shares;
}

std::map<std::string, std::size_t> uncounted_nodes(const Network& network, const Matches& matches) {
  const std::vector<OnnxNode>& nodes = network.model.nodes;
  std::vector<bool> counted(nodes.size());
  for (const MatchedWorkload& matched : matches.workloads)
    for (const Match& match : matched.matches)
      for (const auto* nodes : {&match.nodes, &match.before})
        for (const std::size_t node : *nodes) counted[node] = true;
  for (const Gap& gap : matches.gaps)
    if (gap.flops > 0) counted[gap.node] = true;
  std::map<std::string, std::size_t> uncounted;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!counted[i] && !only_reshapes(nodes[i]) && !is_known_before(nodes[i], network.shapes))
      ++uncounted[std::string(nodes[i].op)];
  return uncounted;
}

}  // namespace lehr
