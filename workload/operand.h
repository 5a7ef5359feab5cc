// A matrix operand: its type, how it is stored, and its text.
#pragma once

#include <string>
#include <string_view>

#include "base/dtype.h"

namespace lehr {

/// Storage order of a matrix operand. With both orders, A is m x k, B is k x n and C is m x n.
enum class Layout { kRow, kColumn };

struct Operand {
  DType type = DType::kF32;
  Layout layout = Layout::kRow;
  /// Whether the operand stays the same from call to call, as weights do. It may then be packed once before
  /// the calls. This is a permission: families and libraries that do not use it compute the same result.
  bool constant = false;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// The value that is subtracted from each element of a first operand of u8 or s8 before it is multiplied.
enum class ZeroPoint {
  kNone,
  kInput  ///< one element of the operand's type, read at run time: "a_zero", "x_zero"
};
std::string_view name_of(ZeroPoint zero);
/// Parses "none", "input". Throws Error(kUser).
ZeroPoint parse_zero_point(std::string_view text);
/// Throws Error(kUser), one sentence, for a zero point if the operands are not u8 or s8 or the sums are not
/// in s32.
void validate(ZeroPoint zero, DType operand, DType accum);

/// Throws Error(kUser), one sentence, if a type is s7 where that is not allowed.
void validate_types(DType first, DType second, DType output);

/// Parses "f32:row" or "f32:row:constant". "f32" alone is the type of an operand in the default layout.
/// Throws Error(kUser).
Operand parse_operand(std::string_view text);
DType parse_operand_type(std::string_view text);
std::string to_text(const Operand& operand);

/// Return the default types for operands of `type`. The output: s32 for 8-bit integers, f32 for 8-bit floats,
/// else `type`. The sums: f64 for f64, s32 for integers, else f32.
DType output_for(DType type);
DType sums_for(DType type);
/// Returns the default type of the second operand: s8 if the first one is u8, else the same type.
DType second_for(DType type);

}  // namespace lehr
