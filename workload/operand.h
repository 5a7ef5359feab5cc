// A matrix operand: its type, how it is stored, and its text.
#pragma once

#include <string>
#include <string_view>

#include "base/dtype.h"

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

/// What is taken from each element of the first operand, of u8 or s8, before it is multiplied.
enum class ZeroPoint {
  kNone,
  kInput  ///< one element of the operand's type that is read at run time: "a_zero", "x_zero"
};
std::string_view name_of(ZeroPoint zero);
/// "none", "input" -> ZeroPoint. Throws Error(kUser).
ZeroPoint parse_zero_point(std::string_view text);
/// Throws Error(kUser), one sentence, where there is one of anything but u8 and s8 with sums in s32.
void validate(ZeroPoint zero, DType operand, DType accum);

/// Throws Error(kUser), one sentence, where one is s7 and cannot be.
void validate_types(DType first, DType second, DType output);

/// "f32:row" or "f32:row:constant" -> Operand; "f32" -> the type of one. Throws Error(kUser).
Operand parse_operand(std::string_view text);
DType parse_operand_type(std::string_view text);
std::string to_text(const Operand& operand);

/// What goes with operands of `type` where nothing is said: the type of the output (s32 for 8-bit integers,
/// f32 for 8-bit floats, else `type`), and that of the sums (f64 for f64, s32 for integers, else f32).
DType output_for(DType type);
DType sums_for(DType type);
/// That of the second operand: s8 beside u8, else `type`.
DType second_for(DType type);

}  // namespace lehr
