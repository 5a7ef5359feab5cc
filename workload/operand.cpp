#include "workload/operand.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "workload/math_mode.h"

namespace lehr {
namespace {

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = {"f64", "f32", "f16", "bf16", "s32",
                                                 "s8",  "u8",  "s7",  "e4m3", "e5m2"};
  return names;
}

}  // namespace

DType parse_operand_type(std::string_view text) {
  if (std::ranges::find(dtype_names(), text) != dtype_names().end()) return *parse_dtype(text);
  const std::string near = closest(text, dtype_names());
  throw_user("unknown dtype '{}'{}; known are {}", text,
             near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(dtype_names(), ", "));
}

Operand parse_operand(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  Operand operand;
  operand.type = parse_operand_type(parts[0]);
  operand.constant = parts.size() == 3 && parts[2] == "constant";
  if (parts.size() > 2 && !operand.constant)
    throw_user("operand '{}' has too many parts; write dtype:layout, e.g. f32:row, or f32:row:constant",
               text);
  if (parts.size() > 1) {
    if (parts[1] == "row") {
      operand.layout = Layout::kRow;
    } else if (parts[1] == "column" || parts[1] == "col") {
      operand.layout = Layout::kColumn;
    } else {
      throw_user("unknown layout '{}' in operand '{}'; write row or column", parts[1], text);
    }
  }
  return operand;
}

std::string to_text(const Operand& operand) {
  return fmt::format("{}:{}{}", name_of(operand.type), operand.layout == Layout::kRow ? "row" : "column",
                     operand.constant ? ":constant" : "");
}

std::string_view name_of(ZeroPoint zero) {
  return zero == ZeroPoint::kNone ? "none" : "input";
}

ZeroPoint parse_zero_point(std::string_view text) {
  for (const ZeroPoint zero : {ZeroPoint::kNone, ZeroPoint::kInput})
    if (name_of(zero) == text) return zero;
  throw_user("unknown zero point '{}'; known are none, input", text);
}

void validate(ZeroPoint zero, DType operand, DType accum) {
  if (zero == ZeroPoint::kNone) return;
  if (operand != DType::kU8 && operand != DType::kS8)
    throw_user("zero={} is for operands of u8 and s8; with {} leave it at none", name_of(zero),
               name_of(operand));
  if (accum != DType::kS32)
    throw_user("zero={} is for sums in s32; with {} leave it at none", name_of(zero), name_of(accum));
}

void validate_types(DType first, DType second, DType output) {
  if (first == DType::kS7 || output == DType::kS7)
    throw_user("s7 is a type of B and of filters; write s8 for the others");
  if (second == DType::kS7 && first != DType::kU8 && first != DType::kS8)
    throw_user("s7 goes with a first operand of u8 or s8, not with {}", name_of(first));
}

DType second_for(DType type) {
  return type == DType::kU8 ? DType::kS8 : type;
}

DType output_for(DType type) {
  if (type == DType::kS8 || type == DType::kU8) return DType::kS32;
  if (is_8_bit_float(type)) return DType::kF32;
  return type;
}

DType sums_for(DType type) {
  if (type == DType::kS8 || type == DType::kU8 || type == DType::kS32) return DType::kS32;
  return type == DType::kF64 ? DType::kF64 : DType::kF32;
}

}  // namespace lehr
