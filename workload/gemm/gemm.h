// A matrix product: sizes, types, layouts, how exact; and what follows from them.
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

/// C[b] = alpha (A[b] - zero) B[b] for each of `batch` matrices, contiguous, one after the other. Each whole
/// sum is scaled once, in the type of the sums, before the epilogue. Only B may be constant.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Operand a, b, c;
  DType accum = DType::kF32;
  Math math = Math::kStrict;
  float alpha = 1;                    ///< kLeastScale to kMostScale in size; 1 where the sums are integers
  ZeroPoint zero = ZeroPoint::kNone;  ///< of A
  /// "m=..64": m is the most rows of A and C. How many there are, at least 1, is an argument of each call.
  bool any_rows = false;
  /// Rows of the call that is meant, fewer than m, as "rows=24" says, where any_rows is set; 0: m of them,
  /// and no text says so.
  std::int64_t rows = 0;
  /// "m=16..64": a range of rows from this number up to m, which a set of kernels covers. It has no kernel of
  /// its own. 0: no range.
  std::int64_t least = 0;
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// What a check can judge: 0 leaves nothing of the product, and beyond these f32 may not hold what is left.
inline constexpr float kLeastScale = 1e-30F, kMostScale = 1e30F;

/// As the functions of the same name, of a workload (workload.h) or an operator's table (operator.h). What an
/// epilogue does to the output is in those that are given it.
///
/// Tensors, flops and reference are those of a call, of rows_of() rows.
void validate(const Gemm& gemm);
std::vector<TensorSpec> tensors_of(const Gemm& gemm);
std::vector<Dimension> shape_of(const Gemm& gemm, const Epilogue& epilogue);
/// As tensor_shapes(), of the inputs.
std::vector<std::vector<Dimension>> input_shapes_of(const Gemm& g);
void set_types(Gemm& gemm, DType inputs, DType output);
std::int64_t channels_of(const Gemm& gemm);
ProductSums product_sums(const Gemm& gemm);
std::string_view sliced_size(const Gemm& gemm);
double flops_of(const Gemm& gemm);
/// Rows of A and C in the call that is meant: `rows`, or m.
std::int64_t rows_of(const Gemm& gemm);
/// Columns of C: n, or half of it behind a gate.
std::int64_t output_columns(const Gemm& gemm, const Epilogue& epilogue);

}  // namespace lehr
