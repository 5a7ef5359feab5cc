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

/// "f32:row" or "f32:row:constant" -> Operand; "f32" -> the type of one. Throws Error(kUser).
Operand parse_operand(std::string_view text);
DType parse_operand_type(std::string_view text);
std::string to_text(const Operand& operand);

/// What goes with operands of `type` where nothing is said: the type of the output (s32 for 8-bit integers,
/// f32 for 8-bit floats, else `type`), and that of the sums (f64 for f64, s32 for integers, else f32).
DType output_for(DType type);
DType sums_for(DType type);

}  // namespace lehr
