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
  /// Whether it stays the same from call to call, as weights do, and may be laid out anew once before them. A
  /// permission: a family or library that does not use it computes the same.
  bool constant = false;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// The value that is subtracted from each element of the first operand, of u8 or s8, before it is multiplied.
enum class ZeroPoint {
  kNone,
  kInput  ///< one element of the operand's type, read at run time: "a_zero", "x_zero"
};
std::string_view name_of(ZeroPoint zero);
/// Parses "none", "input". Throws Error(kUser).
ZeroPoint parse_zero_point(std::string_view text);
/// Throws Error(kUser), one sentence, for a zero point of operands other than u8 and s8 with sums in s32.
void validate(ZeroPoint zero, DType operand, DType accum);

/// Throws Error(kUser), one sentence, if a type is s7 and may not be.
void validate_types(DType first, DType second, DType output);

/// Parses "f32:row" or "f32:row:constant", and "f32" as the type of an operand. Throws Error(kUser).
Operand parse_operand(std::string_view text);
DType parse_operand_type(std::string_view text);
std::string to_text(const Operand& operand);

/// Return the default types for operands of `type`: that of the output (s32 for 8-bit integers, f32 for 8-bit
/// floats, else `type`), and that of the sums (f64 for f64, s32 for integers, else f32).
DType output_for(DType type);
DType sums_for(DType type);
/// Returns the default type of the second operand: s8 beside u8, else `type`.
DType second_for(DType type);

}  // namespace lehr
