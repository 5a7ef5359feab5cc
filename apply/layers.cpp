#include "apply/layers.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <map>
#include <numeric>
#include <unordered_map>

namespace lehr {
namespace {

constexpr std::size_t kNone = SIZE_MAX;
/// Maps the name of a node to the index of the node in the original network. Maps the name of a value to the
/// index of the node that makes the value.
using Names = std::unordered_map<std::string, std::size_t>;

std::size_t find(const Names& names, std::string_view name) {
  const auto found = names.find(std::string(name));
  return found == names.end() ? kNone : found->second;
}

/// Collects the names of nodes and values of the original, and the names that an engine gives to nameless
/// nodes of `run`. Such a name is the operator and the node's index among the nodes that are not constants.
Names names_in(const OnnxModel& original, const OnnxModel& run) {
  Names names;
  for (std::size_t i = 0; i < original.nodes.size(); ++i) names.emplace(original.nodes[i].name, i);
  for (std::size_t i = 0; i < original.nodes.size(); ++i)
    for (const std::string_view output : original.nodes[i].outputs) names.emplace(output, i);
  names.erase("");
  std::size_t number = 0;
  for (const OnnxNode& node : run.nodes) {
    if (node.op == "Constant") continue;
    const std::string name = fmt::format("{}_{}", node.op, number++);
    if (!node.name.empty() || node.outputs.empty()) continue;
    if (const std::size_t made = find(names, node.outputs[0]); made != kNone) names.emplace(name, made);
  }
  return names;
}

/// Whether an engine adds this operator between other nodes. The added node may be named after a value of the
/// original, but it only moves data.
bool only_moves(std::string_view op) {
  return op == "Transpose" || op == "Cast" || op.starts_with("Reorder");
}

/// Finds the node of the original that a profiled node stands for. The engine names it after a node or its
/// output, with a suffix ("v8_nchwc", "Conv_0_token_1", "MatMul_13/MatMulScaleFusion/") or a prefix ("fused
/// Conv_0").
std::size_t node_of(const Names& names, const OnnxModel& original, const onnxruntime::NodeTime& time) {
  std::string_view name = time.name;
  if (only_moves(time.op)) {
    const std::size_t node = find(names, name);
    return node != kNone && original.nodes[node].op == time.op ? node : kNone;
  }
  if (name.starts_with("fused ")) name.remove_prefix(6);
  for (std::size_t size = name.size(); size > 0; --size) {
    const bool within_a_word =
        size < name.size() && std::isalnum(static_cast<unsigned char>(name[size])) != 0;
    if (const std::size_t node = within_a_word ? kNone : find(names, name.substr(0, size)); node != kNone)
      return node;
  }
  return kNone;
}

/// One layer per node of the original network. All nodes of a match belong to the layer of its first node.
struct NodeLayers {
  std::vector<Layer> layers;
  std::vector<std::size_t> owner;  ///< for each node, the position of the layer that it belongs to
};
NodeLayers match_layers(const OnnxModel& model, const Matches& matches,
                        const std::vector<Replacement>& replacements) {
  NodeLayers all = {std::vector<Layer>(model.nodes.size()), std::vector<std::size_t>(model.nodes.size())};
  std::iota(all.owner.begin(), all.owner.end(), 0);
  for (const MatchedWorkload& matched : matches.workloads)
    for (const Match& match : matched.matches) {
      for (const std::size_t node : match.nodes) all.owner[node] = match.nodes[0];
      for (const std::size_t node : match.before)
        if (all.owner[node] == node) all.owner[node] = match.nodes[0];
      Layer& layer = all.layers[match.nodes[0]];
      layer.op = model.nodes[match.nodes[0]].op;
      layer.workload = to_text(matched.workload);
    }
  for (const Replacement& each : replacements) {
    Layer& layer = all.layers[each.match->nodes[0]];
    layer.workload = to_text(each.workload);
    layer.kernel = true;
  }
  return all;
}

/// Returns the index of the original network's node for each entry of the profile; kNone if no node is found.
/// An engine may fuse nodes, and give the fused node a name that matches no node of the original
/// ("BiasGelu"). The entry of a fused node is assigned with the help of the next entry: to a node that makes
/// an input of the next entry's node. A node that already has an entry with its name is not used.
std::vector<std::size_t> nodes_of(const std::vector<onnxruntime::NodeTime>& profile, const Names& names,
                                  const OnnxModel& original, const NodeLayers& all) {
  std::vector<std::size_t> nodes;
  std::vector<bool> named(original.nodes.size());
  for (const onnxruntime::NodeTime& each : profile) {
    nodes.push_back(node_of(names, original, each));
    if (nodes.back() != kNone) named[nodes.back()] = true;
  }
  for (std::size_t i = nodes.size(); i-- > 1;) {
    if (nodes[i - 1] != kNone || nodes[i] == kNone || only_moves(profile[i - 1].op)) continue;
    const std::size_t next = all.owner[nodes[i]];
    if (all.layers[next].workload.empty() && original.nodes[next].op != profile[i].op) continue;
    for (const std::string_view read : original.nodes[next].inputs)
      if (const std::size_t made = find(names, read); made != kNone && !named[made]) nodes[i - 1] = made;
    if (nodes[i - 1] != kNone) named[nodes[i - 1]] = true;
  }
  return nodes;
}

}  // namespace

std::vector<Layer> layers_of(const Network& network, const Matches& matches,
                             const std::vector<Replacement>& replacements, const OnnxModel& rewritten,
                             const EngineVerdict& verdict) {
  const OnnxModel& model = network.model;
  NodeLayers all = match_layers(model, matches, replacements);
  std::map<std::string, Layer> operators;
  const auto add = [&](const std::vector<onnxruntime::NodeTime>& profile, const OnnxModel& run, double us,
                       double Layer::* time) {
    const std::vector<std::size_t> nodes = nodes_of(profile, names_in(model, run), model, all);
    double sum = 0;
    for (const onnxruntime::NodeTime& each : profile) sum += each.us;
    for (std::size_t i = 0; i < profile.size(); ++i) {
      const std::string& op = profile[i].op;
      Layer& layer = nodes[i] == kNone ? operators[op] : all.layers[all.owner[nodes[i]]];
      if (layer.op.empty()) layer.op = op;
      layer.*time += profile[i].us / sum * us;
    }
    return sum > 0 && us > 0;
  };
  if (!add(verdict.original_nodes, model, verdict.original_us, &Layer::before_us) ||
      !add(verdict.rewritten_nodes, rewritten, verdict.rewritten_us, &Layer::after_us))
    return {};
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    all.layers[i].node = model.nodes[i].name.empty() ? model.nodes[i].outputs.at(0) : model.nodes[i].name;
  for (auto& [op, layer] : operators) all.layers.push_back(std::move(layer));
  std::erase_if(all.layers, [](const Layer& each) { return each.before_us + each.after_us <= 0; });
  return all.layers;
}

}  // namespace lehr
