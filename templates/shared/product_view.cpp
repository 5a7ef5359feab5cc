#include "templates/shared/product_view.h"

namespace lehr {
namespace {

Layout flipped(Layout layout) {
  return layout == Layout::kRow ? Layout::kColumn : Layout::kRow;
}

}  // namespace

ProductView product_view(const Workload& workload) {
  const Gemm& g = workload.gemm();
  const bool gated = is_gated(workload.epilogue);
  // C^T = B^T A^T, and a transposed matrix is the same memory in the other layout.
  ProductView p = {g.n, g.m, g.k, g.batch, flipped(g.b.layout), flipped(g.a.layout), true};
  if (g.c.layout == Layout::kRow)
    p = {g.m, g.n, g.k, g.batch, g.a.layout, g.b.layout, false, gated, Layout::kRow, g.b.constant};
  p.a_type = p.swapped ? g.b.type : g.a.type;
  p.b_type = p.swapped ? g.a.type : g.b.type;
  p.c_type = g.c.type;
  if (g.any_rows) p.usual_rows = rows_of(g);
  return p;
}

ProductView few_rows_view(const Workload& workload) {
  const Gemm& g = workload.gemm();
  const bool gated = is_gated(workload.epilogue);
  ProductView p = {g.m, g.n, g.k, g.batch, g.a.layout, g.b.layout, false, gated, g.c.layout};
  if (g.any_rows)
    p.usual_rows = rows_of(g);
  else if (g.n < g.m)
    p = {g.n, g.m, g.k, g.batch, flipped(g.b.layout), flipped(g.a.layout), true, gated, flipped(g.c.layout)};
  if (p.m == 1) p.a = p.c = Layout::kRow;
  if (p.n == 1) p.b = Layout::kColumn;
  return p;
}

Operands add_params(ir::KernelBuilder& builder, const ProductView& p) {
  const std::int64_t a_elements = p.batch * p.m * p.k;
  const std::int64_t b_elements = p.batch * p.k * p.n;
  const auto input = [&](const char* name, DType type, std::int64_t elements) {
    return builder.param(name, type, elements, ir::Direction::kIn);
  };
  Operands operands{};
  if (p.swapped) {
    operands.b = input("a", p.b_type, b_elements);
    operands.a = input("b", p.a_type, a_elements);
  } else {
    operands.a = input("a", p.a_type, a_elements);
    operands.b = input("b", p.b_type, b_elements);
  }
  operands.c = builder.param("c", p.c_type, p.batch * p.m * p.output_columns(), ir::Direction::kOut);
  return operands;
}

ir::Expr matrix_element(Layout layout, std::int64_t rows, std::int64_t columns, ir::Expr base, ir::Expr row,
                        ir::Expr column) {
  if (layout == Layout::kRow) return base + row * columns + column;
  return base + column * rows + row;
}

EpiloguePlace place_of(const ProductView& view, ir::Expr row, ir::Expr column, ir::Expr element, int lanes,
                       std::optional<ir::Expr> active) {
  // The epilogue's channels are the columns of the workload's C, which are the rows of its transpose.
  return {view.swapped ? row : column, !view.swapped, element, lanes, active};
}

}  // namespace lehr
