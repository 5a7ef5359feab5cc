// Finds quantized convolutions and products. An operator of f32 between DequantizeLinear and QuantizeLinear
// is quantized. So is an operator that has scales and zero points among its inputs, such as QLinearConv
// (https://onnx.ai/onnx/operators/onnx__QLinearConv.html).
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
  /// For constants that were already read, whether their elements fit s7.
  std::unordered_map<const OnnxTensor*, bool>& small;
};

/// A workload and its match.
struct FoundMatch {
  Workload workload;
  Match match;
};

/// Whether the node computes in integers, or an engine would compute it in integers.
bool is_quantized(const OpenGraph& graph, const OnnxNode& node);

/// Returns the match that begins with a quantized Conv, Gemm or MatMul, or with a counterpart of them for
/// integers. It includes the nodes after it as far as the workload's epilogue can compute them, and ends with
/// the last QuantizeLinear if there is one. Each rounding to integers in the graph is kept. Sums, functions
/// and residuals between two roundings are computed in f32. Returns nullopt for another node.
std::optional<std::variant<FoundMatch, Gap>> quantized_match(const OpenGraph& graph, std::size_t node);

}  // namespace lehr
