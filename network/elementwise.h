// Finds what a few element-wise nodes compute together, whatever their operators: exporters write SiLU, GELU
// and similar functions as different nodes, so their function is found by computing them.
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

/// The nodes that read a value, each as often as it reads it. A number beyond all nodes stands for the
/// graph's outputs and for subgraphs.
using Readers = std::unordered_map<std::string_view, std::vector<std::size_t>>;
Readers readers_of(const OnnxModel& model);

/// A step of an epilogue, with the nodes that compute it.
struct FoundStep {
  EpilogueStep step;
  std::vector<std::size_t> nodes;  ///< ascending
  std::string_view output;         ///< the value that the last node makes
};

/// Returns the smallest group of nodes that begins at `value`, ends in one value, otherwise reads only single
/// constants, and computes a function of the vocabulary (workload/epilogue.h). Returns nullopt if there is
/// none.
std::optional<FoundStep> function_of_value(const OnnxModel& model, const GraphShapes& shapes,
                                           const Readers& readers, std::string_view value);

}  // namespace lehr
