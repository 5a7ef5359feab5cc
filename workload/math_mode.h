// How exact a workload's products and sums must be. Its text is part of a workload's (workload.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "base/dtype.h"

namespace lehr {

/// How exact a product or a convolution must be, where the types leave a choice: for f32 operands, and for
/// 8-bit floats with sums in f32.
enum class Math {
  /// No operand is rounded, and sums are as exact as their type, which is f32 or better. For 8-bit floats,
  /// sums are as exact as tensor cores compute them: exact products, and sums with 13 fraction bits on
  /// Hopper.
  kStrict,
  k3xTf32,  ///< for f32: three tf32 products of split operands, whose sums are added in f32; as exact as f32
  kTf32,    ///< f32: operands may be rounded to tf32 (10 fraction bits)
  /// For 8-bit floats: a tensor core sums up at most kTwoLevelK products, and these partial sums are added in
  /// f32.
  kTwoLevel
};
/// Maximum number of products that are summed up inside the tensor core if sums have two levels (as in
/// DeepGEMM).
inline constexpr std::int64_t kTwoLevelK = 128;
std::string_view name_of(Math math);
/// Parses "strict", "tf32", "3xtf32", "two_level". Throws Error(kUser).
Math parse_math(std::string_view text);

/// Throws Error(kUser), one sentence, if `math` does not fit the types of the operands and of the sums: kTf32
/// and k3xTf32 need f32 operands and sums, kTwoLevel needs 8-bit floats with sums in f32.
void validate(Math math, DType a, DType b, DType accum);

/// Returns whether it is e4m3 or e5m2.
bool is_8_bit_float(DType type);

}  // namespace lehr
