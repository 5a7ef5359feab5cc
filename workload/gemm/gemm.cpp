#include "workload/gemm/gemm.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "workload/field_of.h"
#include "workload/operator.h"
#include "workload/reference.h"

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

void validate_constant(std::string_view name, const Operand& operand) {
  if (!operand.constant) return;
  throw_user("{}={}: only b may be constant; for a constant A write the transposed product, whose B it is",
             name, to_text(operand));
}

void validate_scale(const Gemm& g) {
  const float size = std::abs(g.alpha);
  if (!(size >= kLeastScale && size <= kMostScale))
    throw_user("alpha={} is out of range: it is a number from {} to {}, of either sign", g.alpha, kLeastScale,
               kMostScale);
  for (const DType type : {g.accum, g.c.type})
    if (g.alpha != 1 && is_integer(type))
      throw_user("alpha={} needs sums and outputs that are floating-point numbers, not {}", g.alpha,
                 name_of(type));
}

void validate_gemm(const Workload& workload) {
  const Gemm& g = workload.gemm();
  check_size("m", g.m);
  check_size("n", g.n);
  check_size("k", g.k);
  check_size("batch", g.batch);
  check_elements("A", g.batch, g.m, g.k);
  check_elements("B", g.batch, g.k, g.n);
  check_elements("C", g.batch, g.m, g.n);
  validate_constant("a", g.a);
  validate_constant("c", g.c);
  validate(g.math, g.a.type, g.b.type, g.accum);
  validate_scale(g);
}

std::vector<TensorSpec> gemm_tensors(const Workload& workload) {
  const Gemm& g = workload.gemm();
  return {{"a", g.a.type, g.batch * g.m * g.k, TensorRole::kInput},
          {"b", g.b.type, g.batch * g.k * g.n, TensorRole::kInput, g.b.constant},
          {"c", g.c.type, g.batch * g.m * g.n, TensorRole::kOutput}};
}

std::vector<Dimension> gemm_shape(const Workload& workload, std::int64_t elements) {
  const Gemm& g = workload.gemm();
  const std::int64_t columns = elements / (g.batch * g.m);
  const bool by_rows = g.c.layout == Layout::kRow;
  std::vector<Dimension> shape = {{g.m, by_rows ? columns : 1}, {columns, by_rows ? 1 : g.m}};
  if (g.batch > 1) shape.insert(shape.begin(), {g.batch, g.m * columns});
  return shape;
}

std::string_view gemm_slices(const Workload& workload) {
  const Gemm& g = workload.gemm();
  return g.batch == 1 && g.a.layout == Layout::kRow && g.c.layout == Layout::kRow ? "m" : "";
}

double gemm_flops(const Workload& workload) {
  const Gemm& g = workload.gemm();
  return 2.0 * static_cast<double>(g.batch) * static_cast<double>(g.m) * static_cast<double>(g.n) *
         static_cast<double>(g.k);
}

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

DType output_for(DType type) {
  if (type == DType::kS8 || type == DType::kU8) return DType::kS32;
  if (is_8_bit_float(type)) return DType::kF32;
  return type;
}

DType sums_for(DType type) {
  if (type == DType::kS8 || type == DType::kU8 || type == DType::kS32) return DType::kS32;
  return type == DType::kF64 ? DType::kF64 : DType::kF32;
}

namespace {

constexpr std::string_view kGemmLayouts[] = {"nn", "nt", "tn", "tt"};

constexpr Field kGemmFields[] = {
    field<&Gemm::m>("m", "rows of C: 64 | 64,128 | 1024:4096:1024 (start:end:step)").sizes().needed(),
    field<&Gemm::n>(
        "n", "columns of C; 4096+1024+1024: of layers that share A, run as one with their B side by side")
        .sizes()
        .needed(),
    field<&Gemm::k>("k", "inner size").sizes().needed(),
    field<&Gemm::batch>("batch", "number of independent products (1)").sizes().usually("1"),
    field<&Gemm::a>("a", "type[:layout] of A: f32:row, bf16:column, ... (f32:row)")
        .usually("f32")
        .naming_flag(),
    field<&Gemm::b>("b",
                    "type[:layout] of B (the type of A, row); f32:row:constant: B stays the same from call "
                    "to call, as weights do, and may be laid out once beforehand")
        .naming_flag(),
    field<&Gemm::c>("c", "type[:layout] of C (the type of A, s32 for s8, f32 for e4m3 and e5m2; row)")
        .naming_flag(),
    field<&Gemm::accum>("accum", "type of the sums (f32; f64 for f64, s32 for s8)").naming_flag(),
    field<&Gemm::math>(
        "math",
        "strict | tf32 | 3xtf32: what f32 operands may be rounded to on the way; two_level: 8-bit "
        "floats with at most 128 products summed in the tensor core, and the rest in f32 (strict)")
        .usually("strict")
        .added_later(),
    shorthand("layout", "nn | nt | tn | tt: A, B stored row-major (n) or column-major (t)")
        .one_of(kGemmLayouts),
    field<&Workload::epilogue>(
        "epilogue",
        "what is done to C before it is stored, in order: bias+relu, bias+gelu, "
        "scale_shift+residual+relu, ...; swiglu, geglu: one column of two neighbours, the gate "
        "and the value (none)")
        .usually("none"),
    field<&Gemm::alpha>("alpha", "number that A B is multiplied by, before the epilogue (1)")
        .usually("1")
        .added_later(),
};

/// 't' stores the operand column-major; a layout of its own must agree.
void apply_layout(std::string_view key, char letter, const GivenFlags& given, Operand& operand) {
  const Layout wanted = letter == 't' ? Layout::kColumn : Layout::kRow;
  if (given(key).find(':') != std::string_view::npos && operand.layout != wanted)
    throw_user("--{} {} contradicts --layout {}: give only one of the two", key, given(key), given("layout"));
  operand.layout = wanted;
}

void complete_gemm(Workload& workload, const GivenFlags& given) {
  Gemm& g = workload.gemm();
  if (given("b").empty()) g.b = {g.a.type, Layout::kRow};
  if (given("c").empty()) g.c = {output_for(g.a.type), Layout::kRow};
  if (given("accum").empty()) g.accum = sums_for(g.a.type);
  if (given("layout").empty()) return;
  apply_layout("a", given("layout")[0], given, g.a);
  apply_layout("b", given("layout")[1], given, g.b);
}

}  // namespace

OperatorTable gemm_operator() {
  return {.name = "gemm",
          .thing = "matrix product",
          .article = "a GEMM",
          .formula = "C (m x n) = A (m x k) B (k x n)",
          .named_by_sizes = true,
          .fields = kGemmFields,
          .usual = {Gemm(), {}},
          .complete = &complete_gemm,
          .validate = &validate_gemm,
          .tensors = &gemm_tensors,
          .shape = &gemm_shape,
          .channels = [](const Workload& workload) { return workload.gemm().n; },
          .slices = &gemm_slices,
          .flops = &gemm_flops,
          .reference = &gemm_reference,
          .element = &gemm_element,
          .tolerance = &gemm_tolerance};
}

}  // namespace lehr
