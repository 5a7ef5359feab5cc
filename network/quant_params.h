// Quantization parameters of a quantized operator's operands: scales and zero points, read from the graph.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "network/quantized.h"
#include "network/quantized_steps.h"

namespace lehr {

/// Maximum number of channels with scales and zero points of their own. Operators with more are refused.
inline constexpr std::int64_t kMostChannels = 65536;

/// Thrown if no kernel can compute an operator with the quantization parameters that the graph has.
struct Refused {
  std::string reason;  ///< the reason, as a clause
};

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw Refused{fmt::format(text, std::forward<Args>(args)...)};
}

struct QuantizedValue {
  std::string_view value;  ///< name of the quantized value
  QuantParams quant_params;
  std::optional<std::size_t> node;  ///< the DequantizeLinear, if there is one
};

bool is_8_bit(OnnxType type);

/// Reads the quantization parameters of a graph's values. Throws Refused if no kernel can use the parameters.
class QuantParamsReader {
 public:
  explicit QuantParamsReader(const OpenGraph& graph) : graph_(graph) {}

  /// Returns the quantization parameters of values of this type. `scale` and `zero` are names of constants;
  /// `zero` is "" if there is no zero point.
  QuantParams read(OnnxType type, std::string_view scale, std::string_view zero, std::int64_t axis) const;
  /// Returns the parameters of a QuantizeLinear or DequantizeLinear. `value` is the node's quantized value:
  /// its output or its input.
  QuantParams of_node(const OnnxNode& node, std::string_view value) const;
  /// Returns the quantized value that a value of f32 is dequantized from; nullopt if something else makes it.
  std::optional<QuantizedValue> dequantized(std::string_view value) const;
  /// Reads three neighbouring inputs of an operator, from input `first` on: quantized value, scale, zero
  /// point.
  QuantizedValue of_inputs(const OnnxNode& node, std::size_t first, std::int64_t axis) const;

 private:
  /// Returns the constant if it has this type and at most kMostChannels elements; nullptr for another value.
  const OnnxTensor* few(std::string_view name, OnnxType type) const;

  const OpenGraph& graph_;
};

}  // namespace lehr
