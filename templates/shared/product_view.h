// A GEMM as its kernels compute it: with C made row-major, or with few rows; its parameters and elements.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/kernel.h"
#include "templates/shared/epilogue_expr.h"
#include "workload/workload.h"

namespace lehr {

/// The GEMM as the lowerings see it.
struct ProductView {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Layout a = Layout::kRow, b = Layout::kRow;
  bool swapped = false;  ///< the lowering's A is the workload's B
  bool gated = false;    ///< pairs of columns become one: never with `swapped`
  Layout c = Layout::kRow;
  bool constant_b = false;  ///< the workload's B, which is the lowering's, stays the same from call to call
  DType a_type = DType::kF32, b_type = DType::kF32, c_type = DType::kF32;
  /// Of Gemm::any_rows: the rows of the call that is meant, of m at most; never with `swapped`. 0: there are
  /// m.
  std::int64_t usual_rows = 0;
  /// Of the call that is meant.
  std::int64_t rows() const { return usual_rows > 0 ? usual_rows : m; }
  /// Of C in memory.
  std::int64_t output_columns() const { return gated ? n / 2 : n; }
};
/// With a row-major C: a column-major one is computed as its transpose, C^T = B^T A^T, with A and B in
/// exchanged roles.
ProductView product_view(const Workload& workload);
/// With few rows rather than few columns: of C and its transpose the one that has no more rows than columns,
/// for families that keep a few rows and stream the other operand. A matrix of a single row or column lies
/// both ways; here it is contiguous in k, and so is C along its one row. C may be column-major.
ProductView few_rows_view(const Workload& workload);

/// The parameters of the kernel in the workload's argument order (a, b, c).
struct Operands {
  ir::BufferId a, b, c;  ///< the lowering's A, B and C
};
Operands add_params(ir::KernelBuilder& builder, const ProductView& view);

/// Flat index of element (row, column) of a matrix of `rows` x `columns`, after `base`.
ir::Expr matrix_element(Layout layout, std::int64_t rows, std::int64_t columns, ir::Expr base, ir::Expr row,
                        ir::Expr column);

/// What the epilogue needs to know of `lanes` columns of the lowering's C from (`row`, `column`) on, which is
/// `element` in memory.
EpiloguePlace place_of(const ProductView& view, ir::Expr row, ir::Expr column, ir::Expr element, int lanes,
                       std::optional<ir::Expr> active);

}  // namespace lehr
