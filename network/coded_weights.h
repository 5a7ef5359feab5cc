// Weights of a quantized operator that nodes make of constants: the file quantizes them itself, or moves them
// behind DequantizeLinear. Quantization-aware training exports the first, torch's linear layers the second.
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
  std::vector<std::size_t> nodes;  ///< that make them, the last one first
};

/// Returns the weights that stand for a value of f32. nullopt if no DequantizeLinear makes it from constants,
/// or one does so from a constant alone. Throws Refused for what is not served, Error(kUser) as
/// f32_elements().
std::optional<CodedWeights> coded_weights(const OpenGraph& graph, std::string_view value);

}  // namespace lehr
