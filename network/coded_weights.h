// Weights of a quantized operator that nodes make from constants: the file quantizes them itself, or moves
// them after DequantizeLinear. Quantization-aware training exports the first, torch's linear layers the
// second.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/codings.h"
#include "network/problems.h"

namespace lehr {

struct CodedWeights {
  Sizes shape;
  std::string bytes;               ///< elements of 8 bits, row-major
  Coding coding;                   ///< its axis is one of `shape`
  std::vector<std::size_t> nodes;  ///< nodes that make them, the last one first
};

/// Returns the weights that a value of f32 dequantizes. Returns nullopt if no DequantizeLinear makes it from
/// constants, or if one makes it directly from a constant. Throws Refused if they cannot be served,
/// Error(kUser) as f32_elements() does.
std::optional<CodedWeights> coded_weights(const OpenGraph& graph, std::string_view value);

}  // namespace lehr
