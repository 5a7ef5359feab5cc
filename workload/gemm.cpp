#include "workload/gemm.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 31;  // indices are 32-bit on CUDA (ir/type.h)

void check_size(std::string_view name, std::int64_t value) {
  if (value < 1 || value >= kLimit) {
    throw_user("{}={} is out of range: sizes are whole numbers from 1 to {}", name, value, kLimit - 1);
  }
}

void check_elements(std::string_view name, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  const double elements =
      static_cast<double>(batch) * static_cast<double>(rows) * static_cast<double>(columns);
  if (elements >= static_cast<double>(kLimit)) {
    throw_user("{} would have {:.3g} elements ({} x {} x batch {}); at most {} are supported", name, elements,
               rows, columns, batch, kLimit - 1);
  }
}

}  // namespace

void validate(const Gemm& g) {
  check_size("m", g.m);
  check_size("n", g.n);
  check_size("k", g.k);
  check_size("batch", g.batch);
  check_elements("A", g.batch, g.m, g.k);
  check_elements("B", g.batch, g.k, g.n);
  check_elements("C", g.batch, g.m, g.n);
  validate(g.math, g.a.type, g.b.type, g.accum);
}

std::string to_text(const Operand& operand) {
  return fmt::format("{}:{}", name_of(operand.type), operand.layout == Layout::kRow ? "row" : "column");
}

std::string to_text(const Gemm& g) {
  return fmt::format("gemm m={} n={} k={} batch={} a={} b={} c={} accum={}", g.m, g.n, g.k, g.batch,
                     to_text(g.a), to_text(g.b), to_text(g.c), name_of(g.accum));
}

namespace {

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = {"f64", "f32", "f16",  "bf16", "s32",
                                                 "s8",  "u8",  "e4m3", "e5m2"};
  return names;
}

}  // namespace

DType parse_operand_type(std::string_view text) {
  const auto type = parse_dtype(text);
  if (type && *type != DType::kU32) return *type;  // u32 is for registers
  const std::string near = closest(text, dtype_names());
  throw_user("unknown dtype '{}'{}; known are {}", text,
             near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(dtype_names(), ", "));
}

Operand parse_operand(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  Operand operand;
  operand.type = parse_operand_type(parts[0]);
  if (parts.size() > 2) throw_user("operand '{}' has too many parts; write dtype:layout, e.g. f32:row", text);
  if (parts.size() == 2) {
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

DType output_for(DType type) {
  if (type == DType::kS8 || type == DType::kU8) return DType::kS32;
  if (is_8_bit_float(type)) return DType::kF32;
  return type;
}

DType sums_for(DType type) {
  if (type == DType::kS8 || type == DType::kU8 || type == DType::kS32) return DType::kS32;
  return type == DType::kF64 ? DType::kF64 : DType::kF32;
}

bool set_field(Gemm& g, std::string_view key, std::string_view value) {
  for (const auto& [name, field] : {std::pair{"m", &g.m}, {"n", &g.n}, {"k", &g.k}, {"batch", &g.batch}}) {
    if (key != name) continue;
    const auto number = parse_sum(value);
    if (!number) throw_user("'{}={}' is not a whole number", key, value);
    *field = *number;
    return true;
  }
  for (const auto& [name, operand] : {std::pair{"a", &g.a}, {"b", &g.b}, {"c", &g.c}}) {
    if (key != name) continue;
    *operand = parse_operand(value);
    return true;
  }
  if (key == "accum") {
    g.accum = parse_operand_type(value);
  } else if (key == "math") {
    g.math = parse_math(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace lehr
