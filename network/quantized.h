// Quantized convolutions and products: an operator between DequantizeLinear and QuantizeLinear, or one with
// scales and zero points among its inputs (QLinearConv,
// https://onnx.ai/onnx/operators/onnx__QLinearConv.html, and similar ones).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "network/elementwise.h"
#include "network/matches.h"

namespace lehr {

/// A graph whose matches are being found.
struct OpenGraph {
  const OnnxModel& model;
  const GraphShapes& shapes;
  const Readers& readers;
  /// The node that makes each value.
  const std::unordered_map<std::string_view, std::size_t>& makers;
  const IsServed& is_served;       ///< matches_of()
  const std::vector<char>& taken;  ///< nodes that are part of a match
  /// Constants that were read, and whether they fit s7.
  std::unordered_map<const OnnxTensor*, bool>& small;
};

/// A workload and its match.
struct FoundMatch {
  Workload workload;
  Match match;
};

/// Whether the node computes in integers, or would in an engine.
bool is_quantized(const OpenGraph& graph, const OnnxNode& node);

/// Returns the match that begins with such a node: a Conv, Gemm or MatMul, or its counterpart for integers.
/// Each rounding to integers in the graph is kept; sums, functions and residuals between two of them are
/// computed in f32. Takes the following nodes as far as the workload's epilogue can, up to the last
/// QuantizeLinear if there is one. Returns nullopt for another node.
std::optional<std::variant<FoundMatch, Gap>> quantized_match(const OpenGraph& graph, std::size_t node);

}  // namespace lehr
