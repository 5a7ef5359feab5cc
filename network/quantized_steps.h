// Turns the steps that a graph applies to the integer sums of a quantized operator into steps of a workload's
// epilogue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "network/quantized.h"

namespace lehr {

/// Quantization parameters: an integer q stands for the real number (q - zero) * scale.
struct QuantParams {
  OnnxType type = OnnxType::kU8;
  std::vector<float> scales;        ///< one scale, or one per channel
  std::vector<std::int64_t> zeros;  ///< one zero point, or one per channel
  std::int64_t axis = 1;            ///< dimension of the channels

  float scale() const { return scales[0]; }
  std::int64_t zero() const { return zeros[0]; }
  bool is_one() const { return scales.size() == 1; }
  bool is_symmetric() const {
    return std::ranges::all_of(zeros, [](std::int64_t zero) { return zero == 0; });
  }
  friend bool operator==(const QuantParams&, const QuantParams&) = default;
};
/// Returns u8 or s8.
DType dtype_of(const QuantParams& quant_params);

/// A step that the graph applies to the sums.
struct QuantizedStep {
  enum class Kind {
    kStep,      ///< applies a function or a pool
    kBias,      ///< adds one real per channel
    kResidual,  ///< adds a tensor, in f32 or quantized
    kCode       ///< quantizes the values
  } kind = Kind::kStep;
  EpilogueStep step = {};
  std::vector<float> bias = {};
  std::string_view residual = {};
  bool is_quantized = false;      ///< whether the residual is quantized
  QuantParams quant_params = {};  ///< parameters of the residual, or of the quantization
};

/// The integer sums that a quantized operator computes before all steps.
struct QuantizedSums {
  QuantParams first, second;  ///< parameters of the two operands
  std::int64_t channels = 0;
  std::string_view bias = {};  ///< name of a bias of s32, which is added to the sums; "": no bias
};

/// Adds the steps to the epilogue of the found workload, and their operands to the match. Scales are combined
/// in f32 as engines combine them: a QLinearConv multiplies its sums by x_scale * w_scale / y_scale. Values
/// are divided by the scale of the next quantization in advance, unless a step before it needs the real
/// values.
void add_steps(const QuantizedSums& sums, std::span<const QuantizedStep> steps, FoundMatch& found);
/// Adds a made input to the match: the zero point of `coding`, as a tensor of one element.
void add_zero(const QuantParams& quant_params, FoundMatch& found);

}  // namespace lehr
