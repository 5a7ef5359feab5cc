#include "network/narrow.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "network/elementwise.h"
#include "workload/operator.h"

namespace lehr {
namespace {

bool is_f32(const GraphShapes& shapes, std::string_view value) {
  return shapes.of(value).type == OnnxType::kF32;
}

bool is_f32(const Workload& workload) {
  return std::ranges::all_of(tensors_of(workload),
                             [](const TensorSpec& tensor) { return tensor.type == DType::kF32; });
}

/// Whether the inputs have the same known shape, and depend on inputs of the network.
bool are_alike(const OnnxNode& node, const GraphShapes& shapes) {
  if (node.inputs.size() != 2) return false;
  const auto one = whole_shape(shapes.of(node.input(0))), other = whole_shape(shapes.of(node.input(1)));
  return one && other && *one == *other && !shapes.of(node.input(0)).fixed && !shapes.of(node.input(1)).fixed;
}

bool is_image(const GraphShapes& shapes, std::string_view value) {
  const auto& shape = shapes.of(value).shape;
  return shape && shape->size() == 4;
}

/// Decides which matches and nodes are in bf16, from the last node to the first.
class Narrowing {
 public:
  Narrowing(const OnnxModel& model, const GraphShapes& shapes, const Matches& matches,
            const IsServed& is_served)
      : model_(model), shapes_(shapes), is_served_(is_served), readers_(readers_of(model)) {
    for (const MatchedWorkload& matched : matches.workloads)
      for (const Match& match : matched.matches) {
        for (const std::size_t node : match.nodes) match_of_[node] = &match;
        if (is_f32(matched.workload))
          ends_[*std::ranges::max_element(match.nodes)] = {&match, &matched.workload};
      }
  }

  NarrowWorkloads run() {
    for (std::size_t i = model_.nodes.size(); i-- > 0;) {
      if (const auto end = ends_.find(i); end != ends_.end()) decide(*end->second.first, *end->second.second);
      const OnnxNode& node = model_.nodes[i];
      if (match_of_.contains(i) || narrow_node(node, shapes_) == NarrowNode::kNone) continue;
      if (std::ranges::all_of(node.outputs, [&](std::string_view output) { return is_wanted(output); }))
        carriers_.insert(i);
    }
    return std::move(narrow_);
  }

 private:
  void decide(const Match& match, const Workload& workload) {
    const auto take = [&](DType output) {
      Workload narrow = narrow_workload(workload, output);
      if (!is_served_(narrow)) return false;
      narrow_.emplace(&match, std::move(narrow));
      return true;
    };
    const bool wanted =
        std::ranges::all_of(outputs_of(match), [&](std::string_view output) { return is_wanted(output); });
    if (!wanted || !take(DType::kBF16)) take(DType::kF32);
  }

  /// Whether all readers of a value would read bf16.
  bool is_wanted(std::string_view value) const {
    const auto readers = readers_.find(value);
    return readers != readers_.end() && std::ranges::all_of(readers->second, [&](std::size_t reader) {
             return reads_narrow(reader, value);
           });
  }

  bool reads_narrow(std::size_t reader, std::string_view value) const {
    const auto match = match_of_.find(reader);
    if (match == match_of_.end()) {
      if (!carriers_.contains(reader)) return false;
      const std::vector<std::string_view>& inputs = model_.nodes[reader].inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i] == value && !is_narrow_input(model_.nodes[reader], i)) return false;
      return true;
    }
    const auto narrow = narrow_.find(match->second);
    if (narrow == narrow_.end()) return false;
    std::vector<TensorSpec> tensors = tensors_of(narrow->second);
    std::erase_if(tensors, [](const TensorSpec& tensor) { return tensor.is_output(); });
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (match->second->inputs[i] == value && tensors[i].type != DType::kBF16) return false;
    return true;
  }

  const OnnxModel& model_;
  const GraphShapes& shapes_;
  const IsServed& is_served_;
  const Readers readers_;
  std::unordered_map<std::size_t, const Match*> match_of_;  ///< the match of each node that is part of one
  std::unordered_map<std::size_t, std::pair<const Match*, const Workload*>>
      ends_;  ///< matches of f32 and their workloads, by the match's last node
  std::unordered_set<std::size_t> carriers_;  ///< nodes between matches that would be in bf16
  NarrowWorkloads narrow_;
};

}  // namespace

NarrowNode narrow_node(const OnnxNode& node, const GraphShapes& shapes) {
  // Operators that onnxruntime has for bf16 on a processor, from 1.18 to 1.32.
  constexpr std::array kMoves = {"Reshape", "Transpose", "Identity", "Concat", "Flatten",
                                 "Squeeze", "Unsqueeze", "Slice",    "Split"};
  if (!node.domain.empty() || node.outputs.empty() || !is_f32(shapes, node.input(0)))
    return NarrowNode::kNone;
  if (std::ranges::find(kMoves, node.op) != kMoves.end()) return NarrowNode::kEngine;
  if (node.outputs.size() != 1) return NarrowNode::kNone;
  const bool pools = node.op == "MaxPool" || node.op == "AveragePool" || node.op == "GlobalAveragePool";
  if ((pools && is_image(shapes, node.input(0))) || node.op == "Relu" ||
      (node.op == "Add" && are_alike(node, shapes)))
    return NarrowNode::kPlugin;
  return NarrowNode::kNone;
}

bool is_narrow_input(const OnnxNode& node, std::size_t input) {
  return input == 0 || node.op == "Concat" || node.op == "Add";
}

Workload narrow_workload(Workload workload, DType output) {
  operator_of(workload).set_types(workload, DType::kBF16, output);
  return workload;
}

NarrowWorkloads narrow_workloads(const OnnxModel& model, const GraphShapes& shapes, const Matches& matches,
                                 const IsServed& is_served) {
  return Narrowing(model, shapes, matches, is_served).run();
}

}  // namespace lehr
