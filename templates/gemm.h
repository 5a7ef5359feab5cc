// A matrix product: sizes, types, layouts, how exact. Its canonical text is part of a workload's
// (workload.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace lehr {

/// Storage order of a matrix operand. The logical shapes are A m x k, B k x n, C m x n in either case.
enum class Layout { kRow, kColumn };

struct Operand {
  DType type = DType::kF32;
  Layout layout = Layout::kRow;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// How exact a product must be, where the types leave a choice: that of f32 operands, and that of 8-bit
/// floats with sums in f32.
enum class Math {
  /// No operand is rounded, and sums are as exact as their type: f32 or better. But those of 8-bit floats are
  /// what tensor cores make of them: exact products, and sums of 13 fraction bits on Hopper.
  kStrict,
  k3xTf32,   ///< f32: three tf32 products of split operands: errors near those of f32
  kTf32,     ///< f32: operands may be rounded to tf32 (10 fraction bits)
  kTwoLevel  ///< 8-bit floats: a tensor core sums up kTwoLevelK products at most, and f32 what it gives
};
/// Products of one sum inside the tensor core where sums have two levels (kernels.md section 4: DeepGEMM).
inline constexpr std::int64_t kTwoLevelK = 128;
std::string_view name_of(Math math);

/// C[b] = A[b] * B[b] for each of `batch` matrices, contiguous, one after the other.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Operand a, b, c;
  DType accum = DType::kF32;
  /// kTf32 and k3xTf32 only for f32 operands and sums, kTwoLevel for 8-bit floats with sums in f32
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

/// "strict", "tf32", "3xtf32", "two_level" -> Math. Throws Error(kUser).
Math parse_math(std::string_view text);
/// "f32:row" -> Operand. Throws Error(kUser).
Operand parse_operand(std::string_view text);
std::string to_text(const Operand& operand);

/// What goes with operands of `type` where nothing is said: the type of the output (s32 for 8-bit integers,
/// f32 for 8-bit floats, else `type`), and that of the sums (f64 for f64, s32 for integers, else f32).
DType output_for(DType type);
DType sums_for(DType type);
/// e4m3 and e5m2.
bool is_8_bit_float(DType type);

}  // namespace lehr
