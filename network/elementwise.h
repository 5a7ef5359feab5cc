// What a few element-wise nodes compute together, whatever they are called: exporters write SiLU, GELU and
// their like as different nodes, and what they mean is found by computing them.
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

/// Which nodes read a value, each as often as it reads it; the graph's outputs and subgraphs as a number
/// beyond all nodes.
using Readers = std::unordered_map<std::string_view, std::vector<std::size_t>>;
Readers readers_of(const OnnxModel& model);

/// A step of an epilogue, and the nodes that compute it.
struct FoundStep {
  EpilogueStep step;
  std::vector<std::size_t> nodes;  ///< ascending
  std::string_view output;         ///< the value that the last one makes
};

/// The smallest group of nodes that begins at `value` and ends in one value, reads else nothing but single
/// constants, and computes a function of the vocabulary (workload/epilogue.h). nullopt where there is none.
std::optional<FoundStep> function_of_value(const OnnxModel& model, const GraphShapes& shapes,
                                           const Readers& readers, std::string_view value);

}  // namespace lehr
