// Steps on the sums of quantized products: those of a graph, and those of a workload's epilogue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "network/quantized.h"

namespace lehr {

/// Quantization parameters: a real is (integer - zero) scale.
struct Coding {
  OnnxType type = OnnxType::kU8;
  std::vector<float> scales;        ///< one, or one per channel
  std::vector<std::int64_t> zeros;  ///< one, or as many as channels
  std::int64_t axis = 1;            ///< axis of the channels

  float scale() const { return scales[0]; }
  std::int64_t zero() const { return zeros[0]; }
  bool is_one() const { return scales.size() == 1; }
  bool is_symmetric() const {
    return std::ranges::all_of(zeros, [](std::int64_t zero) { return zero == 0; });
  }
  friend bool operator==(const Coding&, const Coding&) = default;
};
/// Returns u8 or s8.
DType dtype_of(const Coding& coding);

/// A step of the graph on the sums.
struct QuantizedStep {
  enum class Kind {
    kStep,      ///< applies a function or a pool
    kBias,      ///< adds one real per channel
    kResidual,  ///< adds a tensor, of f32 or quantized
    kCode       ///< quantizes the values
  } kind = Kind::kStep;
  EpilogueStep step = {};
  std::vector<float> bias = {};
  std::string_view residual = {};
  bool is_coded = false;  ///< whether the residual is quantized
  Coding coding = {};     ///< parameters of the residual, or of the quantization
};

/// The sums of the products.
struct QuantizedSums {
  Coding first, second;  ///< parameters of the two operands
  std::int64_t channels = 0;
  std::string_view bias = {};  ///< of s32, in the sums' unit; "": no bias
};

/// Adds the steps of an epilogue to the workload, and their operands to the match. Scales are combined in f32
/// as engines do it: a QLinearConv multiplies its sums by x_scale w_scale / y_scale. A value is in the unit
/// of the next quantization, unless a step in between has a scale of its own.
void add_steps(const QuantizedSums& sums, std::span<const QuantizedStep> steps, FoundMatch& found);
/// Adds one element of the type, 0, as an input that is made.
void add_zero(const Coding& coding, FoundMatch& found);

}  // namespace lehr
