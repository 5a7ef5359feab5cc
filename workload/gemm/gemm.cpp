#include "workload/gemm/gemm.h"

#include <cmath>

#include "base/error.h"

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

/// Checks a workload without a fixed number of rows: rows must be contiguous, and nothing may come after them
/// in memory.
void validate_rows(const Gemm& g) {
  if (g.rows != 0 && !g.any_rows)
    throw_user("rows={} needs a size that says the most rows, as m=..{}", g.rows, g.m);
  if (g.rows < 0 || (g.rows > 0 && g.rows >= g.m))
    throw_user("rows={} is out of range: it is from 1 to {}, and left out for all rows of m=..{}", g.rows,
               g.m - 1, g.m);
  if (g.least < 0 || g.least > g.m)
    throw_user("m={}..{} is no range: the second number is at least the first, which is at least 1", g.least,
               g.m);
  if (!g.any_rows && g.least == 0) return;
  if (g.batch != 1 || g.a.layout != Layout::kRow || g.c.layout != Layout::kRow)
    throw_user("any number of rows needs batch=1, and A and C stored by rows");
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

}  // namespace

void validate(const Gemm& g) {
  check_size("m", g.m);
  check_size("n", g.n);
  check_size("k", g.k);
  check_size("batch", g.batch);
  validate_rows(g);
  check_elements("A", g.batch, g.m, g.k);
  check_elements("B", g.batch, g.k, g.n);
  check_elements("C", g.batch, g.m, g.n);
  validate_constant("a", g.a);
  validate_constant("c", g.c);
  validate_types(g.a.type, g.b.type, g.c.type);
  validate(g.math, g.a.type, g.b.type, g.accum);
  validate_scale(g);
  validate(g.zero, g.a.type, g.accum);
}

std::vector<TensorSpec> tensors_of(const Gemm& g) {
  const std::int64_t rows = rows_of(g);
  std::vector<TensorSpec> tensors = {{"a", g.a.type, g.batch * rows * g.k, TensorRole::kInput},
                                     {"b", g.b.type, g.batch * g.k * g.n, TensorRole::kInput, g.b.constant},
                                     {"c", g.c.type, g.batch * rows * g.n, TensorRole::kOutput}};
  if (g.zero == ZeroPoint::kInput) tensors.push_back({"a_zero", g.a.type, 1, TensorRole::kInput});
  return tensors;
}

namespace {

std::vector<Dimension> matrix_shape(const Gemm& g, std::int64_t rows, std::int64_t columns, Layout layout) {
  const bool by_rows = layout == Layout::kRow;
  std::vector<Dimension> shape = {{rows, by_rows ? columns : 1}, {columns, by_rows ? 1 : rows}};
  if (g.batch > 1) shape.insert(shape.begin(), {g.batch, rows * columns});
  return shape;
}

}  // namespace

std::vector<Dimension> shape_of(const Gemm& g, const Epilogue& epilogue) {
  return matrix_shape(g, rows_of(g), output_columns(g, epilogue), g.c.layout);
}

std::vector<std::vector<Dimension>> input_shapes_of(const Gemm& g) {
  return {matrix_shape(g, rows_of(g), g.k, g.a.layout), matrix_shape(g, g.k, g.n, g.b.layout)};
}

void set_types(Gemm& g, DType inputs, DType output) {
  g.a.type = g.b.type = inputs;
  g.c.type = output;
}

std::int64_t channels_of(const Gemm& g) {
  return g.n;
}

ProductSums product_sums(const Gemm& g) {
  return {g.k, g.a.type, g.b.type, g.accum, g.math, g.zero, g.alpha};
}

std::string_view sliced_size(const Gemm& g) {
  return g.batch == 1 && g.a.layout == Layout::kRow && g.c.layout == Layout::kRow ? "m" : "";
}

double flops_of(const Gemm& g) {
  return 2.0 * static_cast<double>(g.batch) * static_cast<double>(rows_of(g)) * static_cast<double>(g.n) *
         static_cast<double>(g.k);
}

std::int64_t rows_of(const Gemm& g) {
  return g.rows > 0 ? g.rows : g.m;
}

std::int64_t output_columns(const Gemm& g, const Epilogue& epilogue) {
  return is_gated(epilogue) ? g.n / 2 : g.n;
}

}  // namespace lehr
