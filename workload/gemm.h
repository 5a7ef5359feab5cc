// A matrix product: sizes, types, layouts, how exact. Its canonical text is part of a workload's
// (workload.h).
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
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// C[b] = A[b] * B[b] for each of `batch` matrices, contiguous, one after the other.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Operand a, b, c;
  DType accum = DType::kF32;
  Math math = Math::kStrict;
  friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// Throws Error(kUser) when a size is not in [1, 2^31), an operand has 2^31 elements or more, or `math` does
/// not go with the types, naming it and the limit.
void validate(const Gemm& gemm);

/// "gemm m=512 n=512 k=512 batch=1 a=f32:row b=f32:row c=f32:row accum=f32"; without the math.
std::string to_text(const Gemm& gemm);
/// Sets what `key`=`value` says: a key of to_text(), or math. Sizes may be sums: with n=4096+1024 layers
/// that share A are one product with their B side by side. False for an unknown key; throws Error(kUser) for
/// a bad value.
bool set_field(Gemm& gemm, std::string_view key, std::string_view value);

/// "f32:row" -> Operand; "f32" -> the type of one. Throws Error(kUser).
Operand parse_operand(std::string_view text);
DType parse_operand_type(std::string_view text);
std::string to_text(const Operand& operand);

/// What goes with operands of `type` where nothing is said: the type of the output (s32 for 8-bit integers,
/// f32 for 8-bit floats, else `type`), and that of the sums (f64 for f64, s32 for integers, else f32).
DType output_for(DType type);
DType sums_for(DType type);

}  // namespace lehr
