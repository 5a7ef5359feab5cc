#include "workload/gemm/gemm_operator.h"

#include "base/error.h"
#include "workload/field_of.h"
#include "workload/gemm/gemm_reference.h"
#include "workload/operator_functions.h"

namespace lehr {
namespace {

constexpr std::string_view kGemmLayouts[] = {"nn", "nt", "tn", "tt"};

void append_rows(const Workload& workload, std::string& text) {
  const Gemm& g = workload.gemm();
  if (g.least > 0) append_value(text, g.least);
  if (g.any_rows || g.least > 0) text += "..";
  append_value(text, g.m);
}

/// Parses "64", "..64", "16..64".
void read_rows(const Field& field, std::string_view name, std::string_view value, Workload& workload) {
  Gemm& g = workload.gemm();
  const std::size_t dots = value.find("..");
  g.any_rows = dots == 0;
  g.least = 0;
  if (dots == std::string_view::npos) return read_value(field, name, value, g.m);
  if (dots > 0) read_value(field, name, value.substr(0, dots), g.least);
  if (dots > 0 && g.least < 1) throw_user("{}={}: a range begins with one row or more", name, value);
  read_value(field, name, value.substr(dots + 2), g.m);
}

/// Returns the distance between the rows of two calls. Whether a kernel gets the number of rows as an
/// argument does not matter, because it computes the same.
double rows_distance(const Workload& a, const Workload& b) {
  return value_distance(rows_of(a.gemm()), rows_of(b.gemm()));
}

constexpr Field rows_field() {
  return {.key = "m",
          .help =
              "rows of C: 64 | 64,128 | 1024:4096:1024 (start:end:step); ..64: any number of rows up to 64, "
              "by one kernel; 1..64: the same by a set of kernels",
          .append = &append_rows,
          .read = &read_rows,
          .distance = &rows_distance};
}

void append_called_rows(const Workload& workload, std::string& text) {
  if (workload.gemm().rows > 0) append_value(text, workload.gemm().rows);
}

/// Rejects 0, which would mean that no rows were given.
void read_called_rows(const Field& field, std::string_view name, std::string_view value, Workload& workload) {
  read_value(field, name, value, workload.gemm().rows);
  if (workload.gemm().rows == 0)
    throw_user("{}=0 is out of range: it is 1 or more, and left out for all rows", name);
}

constexpr Field called_rows_field() {
  return {.key = "rows",
          .help = "of m=..64: the rows of the calls that are timed (all)",
          .append = &append_called_rows,
          .read = &read_called_rows,
          // The field's distance is part of rows_distance().
          .distance = [](const Workload&, const Workload&) { return 0.0; }};
}

constexpr Field kGemmFields[] = {
    rows_field().sizes().needed(),
    field<&Gemm::n>(
        "n", "columns of C; 4096+1024+1024: of layers that share A, run as one with their B side by side")
        .sizes()
        .needed(),
    field<&Gemm::k>("k", "inner size").sizes().needed(),
    field<&Gemm::batch>("batch", "number of independent products (1)").sizes().usually("1"),
    field<&Gemm::a>("a", "type[:layout] of A: f32:row, bf16:column, ... (f32:row)")
        .usually("f32")
        .naming_flag(),
    field<&Gemm::b>(
        "b",
        "type[:layout] of B (the type of A, s8 for u8; row); f32:row:constant: B stays the same from call "
        "to call, as weights do, and may be laid out once beforehand")
        .naming_flag(),
    field<&Gemm::c>("c",
                    "type[:layout] of C (the type of A, s32 for s8 and u8, f32 for e4m3 and e5m2; f32 behind "
                    "dequant, the type of A behind quant; row)")
        .naming_flag(),
    field<&Gemm::accum>("accum", "type of the sums (f32; f64 for f64, s32 for s8 and u8)").naming_flag(),
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
        "and the value; of u8 and s8: dequant+bias+gelu, dequant+bias+relu+quant, ... (none)")
        .usually("none"),
    field<&Gemm::alpha>("alpha", "number that A B is multiplied by, before the epilogue (1)")
        .usually("1")
        .added_later(),
    field<&Gemm::zero>("zero",
                       "none | input: what is taken from each element of A, of u8 or s8, before it is "
                       "multiplied: an input of one element behind C (none)")
        .usually("none")
        .added_later(),
    called_rows_field().added_later(),
};

/// Makes the operand column-major for 't'. If the layout has a flag of its own, the two must agree.
void apply_layout(std::string_view key, char letter, const GivenFlags& given, Operand& operand) {
  const Layout wanted = letter == 't' ? Layout::kColumn : Layout::kRow;
  if (given(key).find(':') != std::string_view::npos && operand.layout != wanted)
    throw_user("--{} {} contradicts --layout {}: give only one of the two", key, given(key), given("layout"));
  operand.layout = wanted;
}

void complete_gemm(Workload& workload, const GivenFlags& given) {
  Gemm& g = workload.gemm();
  if (given("b").empty()) g.b = {second_for(g.a.type), Layout::kRow};
  if (given("c").empty()) g.c = {output_for(g.a.type, workload.epilogue), Layout::kRow};
  if (given("accum").empty()) g.accum = sums_for(g.a.type);
  if (given("layout").empty()) return;
  apply_layout("a", given("layout")[0], given, g.a);
  apply_layout("b", given("layout")[1], given, g.b);
}

CallRows gemm_rows(const Workload& workload) {
  const Gemm& g = workload.gemm();
  return {g.m, g.any_rows, g.rows, g.least};
}

void set_gemm_rows(Workload& workload, const CallRows& rows) {
  Gemm& g = workload.gemm();
  g.m = rows.most;
  g.any_rows = rows.any;
  g.rows = rows.called;
  g.least = rows.least;
}

bool has_pairs(const Workload& workload) {
  return workload.gemm().n % 2 == 0 && workload.gemm().c.layout == Layout::kRow;
}

}  // namespace

OperatorTable gemm_operator() {
  return with_functions<Gemm>({.name = "gemm",
                               .thing = "matrix product",
                               .article = "a GEMM",
                               .formula = "C (m x n) = A (m x k) B (k x n)",
                               .named_by_sizes = true,
                               .fields = kGemmFields,
                               .usual = {Gemm(), {}},
                               .complete = &complete_gemm,
                               .rows = &gemm_rows,
                               .set_rows = &set_gemm_rows,
                               .has_pairs = &has_pairs});
}

}  // namespace lehr
