// A matrix product: sizes, types, layouts, exactness, and values derived from them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "workload/epilogue.h"
#include "workload/math_mode.h"
#include "workload/operand.h"
#include "workload/tensor.h"
#include "workload/tolerance.h"

namespace lehr {

/// C[b] = alpha (A[b] - zero) B[b] for each of `batch` matrices, which follow each other in memory. alpha
/// multiplies each complete sum, in the type of the sums and before the epilogue. Only B may be constant.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Operand a, b, c;
  DType accum = DType::kF32;
  Math math = Math::kStrict;
  /// Absolute value from kLeastScale to kMostScale; 1 if the sums are integers.
  float alpha = 1;
  ZeroPoint zero = ZeroPoint::kNone;  ///< zero point of A
  /// For "m=..64": whether m is the maximum number of rows of A and C. Each call then passes its number of
  /// rows, at least 1, as an argument.
  bool any_rows = false;
  /// If any_rows: rows of the described call, fewer than m ("rows=24"). 0: the call has m rows, which the
  /// text does not state.
  std::int64_t rows = 0;
  /// For "m=16..64": the minimum of a range of rows whose maximum is m, and which a set of kernels covers. A
  /// range has no kernel of its own. 0: not a range.
  std::int64_t least = 0;
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// Range of scales that a check can judge. With a scale of 0 nothing of the product is left, and with larger
/// ones f32 may not hold the result.
inline constexpr float kLeastScale = 1e-30F, kMostScale = 1e30F;

/// The functions of the same name for a workload (workload.h) or an operator's table (operator.h). Only
/// functions with an epilogue parameter consider its effect on the output.
///
/// Tensors, flops and reference are those of a call, of rows_of() rows.
void validate(const Gemm& gemm);
std::vector<TensorSpec> tensors_of(const Gemm& gemm);
std::vector<Dimension> shape_of(const Gemm& gemm, const Epilogue& epilogue);
/// Does the same as tensor_shapes(), for the inputs only.
std::vector<std::vector<Dimension>> input_shapes_of(const Gemm& g);
void set_types(Gemm& gemm, DType inputs, DType output);
std::int64_t channels_of(const Gemm& gemm);
ProductSums product_sums(const Gemm& gemm);
std::string_view sliced_size(const Gemm& gemm);
double flops_of(const Gemm& gemm);
/// Returns the rows of A and C in the described call: `rows`, or m.
std::int64_t rows_of(const Gemm& gemm);
/// Returns the number of columns of C: n, or half of it after a gate.
std::int64_t output_columns(const Gemm& gemm, const Epilogue& epilogue);

}  // namespace lehr
