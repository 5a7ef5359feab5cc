// A matrix product: sizes, types, layouts, how exact. gemm.cpp describes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "workload/math_mode.h"

namespace lehr {

/// Storage order of a matrix operand. The logical shapes are A m x k, B k x n, C m x n in either case.
enum class Layout { kRow, kColumn };

struct Operand {
  DType type = DType::kF32;
  Layout layout = Layout::kRow;
  /// It stays the same from call to call, as weights do, and may be laid out anew once before them. A
  /// permission: a family or library that has no use for it computes the same.
  bool constant = false;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// C[b] = alpha A[b] B[b] for each of `batch` matrices, contiguous, one after the other. Each whole sum is
/// scaled once, in the type of the sums, before the epilogue. Only B may be constant.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Operand a, b, c;
  DType accum = DType::kF32;
  Math math = Math::kStrict;
  float alpha = 1;  ///< kLeastScale to kMostScale in size; 1 where the sums are integers
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// What a check can judge: 0 leaves nothing of the product, and beyond these f32 may not hold what is left.
inline constexpr float kLeastScale = 1e-30F, kMostScale = 1e30F;

/// "f32:row" or "f32:row:constant" -> Operand; "f32" -> the type of one. Throws Error(kUser).
Operand parse_operand(std::string_view text);
DType parse_operand_type(std::string_view text);
std::string to_text(const Operand& operand);

/// What goes with operands of `type` where nothing is said: the type of the output (s32 for 8-bit integers,
/// f32 for 8-bit floats, else `type`), and that of the sums (f64 for f64, s32 for integers, else f32).
DType output_for(DType type);
DType sums_for(DType type);

}  // namespace lehr
