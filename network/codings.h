// How the operands of a quantized operator stand for reals: scales and zero points, read from the graph.
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

/// Scales and zero points of channels, at most.
inline constexpr std::int64_t kMostChannels = 65536;

/// Thrown where a graph says what is not served.
struct Refused {
  std::string reason;  ///< a clause
};

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  throw Refused{fmt::format(text, std::forward<Args>(args)...)};
}

struct Coded {
  std::string_view value;  ///< of whole numbers
  Coding coding;
  std::optional<std::size_t> node;  ///< the DequantizeLinear
};

bool is_8_bit(OnnxType type);

/// Reads scales and zero points. Throws Refused for what is not served.
class Codings {
 public:
  explicit Codings(const OpenGraph& graph) : graph_(graph) {}

  /// Returns the coding of `type`, with the names of its scale and zero point; "" for no zero point.
  Coding read(OnnxType type, std::string_view scale, std::string_view zero, std::int64_t axis) const;
  /// Returns the coding of a QuantizeLinear or DequantizeLinear; `value` is its value of whole numbers.
  Coding of_node(const OnnxNode& node, std::string_view value) const;
  /// Returns what makes a value of f32 from whole numbers; nullopt if something else makes it.
  std::optional<Coded> dequantized(std::string_view value) const;
  /// Reads three inputs of an operator that has them: whole numbers, scale, zero point.
  Coded of_inputs(const OnnxNode& node, std::size_t first, std::int64_t axis) const;

 private:
  /// Returns a constant of a type with one element for each channel at most; nullptr for another value.
  const OnnxTensor* few(std::string_view name, OnnxType type) const;

  const OpenGraph& graph_;
};

}  // namespace lehr
