// What is done to sums of whole numbers that stand for reals, as a graph says it, and as a workload's
// epilogue does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "network/quantized.h"

namespace lehr {

/// How whole numbers stand for reals: (whole - zero) scale.
struct Coding {
  OnnxType type = OnnxType::kU8;
  std::vector<float> scales;        ///< one, or one for each channel
  std::vector<std::int64_t> zeros;  ///< one, or as many
  std::int64_t axis = 1;            ///< of the channels

  float scale() const { return scales[0]; }
  std::int64_t zero() const { return zeros[0]; }
  bool is_one() const { return scales.size() == 1; }
  bool is_symmetric() const {
    return std::ranges::all_of(zeros, [](std::int64_t zero) { return zero == 0; });
  }
  friend bool operator==(const Coding&, const Coding&) = default;
};
/// Of u8 or s8.
DType dtype_of(const Coding& coding);

/// What a graph does to the sums.
struct QuantizedStep {
  enum class Kind {
    kStep,      ///< a function or a pool
    kBias,      ///< one real for each channel is added
    kResidual,  ///< a tensor is added: of f32, or of whole numbers
    kCode       ///< the values are rounded to whole numbers
  } kind = Kind::kStep;
  EpilogueStep step = {};
  std::vector<float> bias = {};
  std::string_view residual = {};
  bool is_coded = false;  ///< the residual is of whole numbers
  Coding coding = {};     ///< of these, or those that are rounded to
};

/// The sums themselves.
struct QuantizedSums {
  Coding first, second;  ///< of what is multiplied
  std::int64_t channels = 0;
  std::string_view bias = {};  ///< of s32, in their unit; "": none
};

/// Adds the steps of an epilogue to the workload, and what they read to the place. Scales are worked into
/// each other as engines do it, in f32: a QLinearConv multiplies its sums by x_scale w_scale / y_scale. A
/// value stands for reals in the unit of the whole numbers that come next, where nothing in between has a
/// scale of its own.
void add_steps(const QuantizedSums& sums, std::span<const QuantizedStep> steps, FoundPlace& found);
/// One element of a coding's type as an input that is made.
void add_zero(const Coding& coding, FoundPlace& found);

}  // namespace lehr
