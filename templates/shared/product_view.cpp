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
  if (g.c.layout == Layout::kRow)
    return {g.m, g.n, g.k, g.batch, g.a.layout, g.b.layout, false, gated, Layout::kRow, g.b.constant};
  // C^T = B^T A^T, and a transposed matrix is the same memory in the other layout.
  return {g.n, g.m, g.k, g.batch, flipped(g.b.layout), flipped(g.a.layout), true};
}

ProductView few_rows_view(const Workload& workload) {
  const Gemm& g = workload.gemm();
  const bool gated = is_gated(workload.epilogue);
  ProductView p = {g.m, g.n, g.k, g.batch, g.a.layout, g.b.layout, false, gated, g.c.layout};
  if (g.n < g.m)
    p = {g.n, g.m, g.k, g.batch, flipped(g.b.layout), flipped(g.a.layout), true, gated, flipped(g.c.layout)};
  if (p.m == 1) p.a = p.c = Layout::kRow;
  if (p.n == 1) p.b = Layout::kColumn;
  return p;
}

Operands add_params(ir::KernelBuilder& builder, const ProductView& p) {
  const std::int64_t a_elements = p.batch * p.m * p.k;
  const std::int64_t b_elements = p.batch * p.k * p.n;
  const auto input = [&](const char* name, std::int64_t elements) {
    return builder.param(name, DType::kF32, elements, ir::Direction::kIn);
  };
  Operands operands{};
  if (p.swapped) {
    operands.b = input("a", b_elements);
    operands.a = input("b", a_elements);
  } else {
    operands.a = input("a", a_elements);
    operands.b = input("b", b_elements);
  }
  operands.c = builder.param("c", DType::kF32, p.batch * p.m * p.output_columns(), ir::Direction::kOut);
  return operands;
}

ir::Expr matrix_element(Layout layout, std::int64_t rows, std::int64_t columns, ir::Expr base, ir::Expr row,
                        ir::Expr column) {
  if (layout == Layout::kRow) return base + row * columns + column;
  return base + column * rows + row;
}

EpiloguePlace place_of(const ProductView& view, ir::Expr row, ir::Expr column, ir::Expr element, int lanes,
                       std::optional<ir::Expr> active) {
  // The channels are the columns of the workload's C, which are the rows of its transpose.
  return {view.swapped ? row : column, !view.swapped, element, lanes, active};
}

}  // namespace lehr
