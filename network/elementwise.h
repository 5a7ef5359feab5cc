// Finds the function that a few element-wise nodes compute together. Exporters write SiLU, GELU and similar
// functions with different operators, so the function is recognized by its results, not by the operators.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "network/onnx.h"
#include "network/shapes.h"
#include "workload/epilogue.h"

namespace lehr {

/// For each value, the nodes that read it, each as often as it reads the value. A number beyond all nodes
/// stands for a subgraph or for an output of the graph.
using Readers = std::unordered_map<std::string_view, std::vector<std::size_t>>;
Readers readers_of(const OnnxModel& model);

/// A step of an epilogue, with the nodes that compute it.
struct FoundStep {
  EpilogueStep step;
  std::vector<std::size_t> nodes;  ///< ascending
  std::string_view output;         ///< the only value of the group that other nodes read
};

/// Returns the smallest group of nodes that computes a function of the epilogue's vocabulary
/// (workload/epilogue.h). The group reads `value` and constants of one element, and other nodes read only one
/// of its values. Returns nullopt if there is no such group.
std::optional<FoundStep> function_of_value(const OnnxModel& model, const GraphShapes& shapes,
                                           const Readers& readers, std::string_view value);

}  // namespace lehr
