// Convolutions and products of whole numbers that stand for reals: of an operator between DequantizeLinear
// and QuantizeLinear, or of one that has the scales and zero points among its inputs (QLinearConv,
// https://onnx.ai/onnx/operators/onnx__QLinearConv.html, and its like).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "network/elementwise.h"
#include "network/places.h"

namespace lehr {

/// A graph on the way to its places.
struct OpenGraph {
  const OnnxModel& model;
  const GraphShapes& shapes;
  const Readers& readers;
  /// The node that makes a value.
  const std::unordered_map<std::string_view, std::size_t>& makers;
  const IsServed& is_served;       ///< places_of()
  const std::vector<char>& taken;  ///< nodes that are part of a place
  /// Of constants that were looked through, whether they are of s7.
  std::unordered_map<const OnnxTensor*, bool>& small;
};

/// A workload, and where it is computed.
struct FoundPlace {
  Workload workload;
  NetworkPlace place;
};

/// Whether the node computes in integers, or would as engines see it.
bool is_quantized(const OpenGraph& graph, const OnnxNode& node);

/// What begins with such a node, which is a Conv, Gemm or MatMul or one that has its place among integers.
/// Each rounding to whole numbers that the graph has is kept; sums, functions and residuals between two of
/// them are computed in f32. Takes what follows as far as the workload's epilogue can do it, up to the last
/// QuantizeLinear where there is one. nullopt: it is no such node.
std::optional<std::variant<FoundPlace, Gap>> quantized_place(const OpenGraph& graph, std::size_t node);

}  // namespace lehr
