// Weights of a quantized operator that the graph's nodes compute from constants. Quantization-aware training
// exports constants of f32 followed by QuantizeLinear. Torch's linear layers export a Transpose after
// DequantizeLinear.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/problems.h"
#include "network/quant_params.h"

namespace lehr {

struct QuantizedWeights {
  Sizes shape;
  std::string bytes;               ///< elements of 8 bits, row-major
  QuantParams quant_params;        ///< its axis is a dimension of `shape`
  std::vector<std::size_t> nodes;  ///< nodes that make the weights, the last node first
};

/// Returns the quantized weights from which a value of f32 is made. Returns nullopt if the value is not made
/// from constants with DequantizeLinear, or if DequantizeLinear reads a constant and makes the value
/// directly. Throws Refused if the weights cannot be served, and Error(kUser) as f32_elements() does.
std::optional<QuantizedWeights> quantized_weights(const OpenGraph& graph, std::string_view value);

}  // namespace lehr
