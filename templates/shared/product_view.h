// A GEMM as its kernels compute it: transposed if that makes C row-major or leaves fewer rows. Also its
// parameters and elements.
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
  bool swapped = false;  ///< whether the lowering's A is the workload's B, transposed
  bool gated = false;    ///< whether a gate combines pairs of columns to one; never with `swapped`
  Layout c = Layout::kRow;
  /// Whether the workload's B (which is also the lowering's B) stays the same from call to call.
  bool constant_b = false;
  DType a_type = DType::kF32, b_type = DType::kF32, c_type = DType::kF32;
  /// With Gemm::any_rows: the number of rows of the described call, at most m; never with `swapped`. 0: m
  /// rows.
  std::int64_t usual_rows = 0;
  /// Returns the number of rows of the described call.
  std::int64_t rows() const { return usual_rows > 0 ? usual_rows : m; }
  /// Returns the number of columns of C in memory.
  std::int64_t output_columns() const { return gated ? n / 2 : n; }
};
/// Returns the view with a row-major C. A column-major one is computed as its transpose, C^T = B^T A^T, with
/// A and B exchanged.
ProductView product_view(const Workload& workload);
/// Returns the view with few rows rather than few columns: C or its transpose, whichever has no more rows
/// than columns. For families that keep a few rows in registers and stream the other operand. A matrix with a
/// single row or column has both layouts; the view then calls it contiguous in k, and C contiguous along its
/// one row. Otherwise C may be column-major.
ProductView few_rows_view(const Workload& workload);

/// The parameters of the kernel, which come in the workload's order (a, b, c).
struct Operands {
  ir::BufferId a, b, c;  ///< the lowering's A, B and C
};
Operands add_params(ir::KernelBuilder& builder, const ProductView& view);

/// Returns the flat index of element (row, column) of a matrix of `rows` x `columns` elements that begins at
/// `base`.
ir::Expr matrix_element(Layout layout, std::int64_t rows, std::int64_t columns, ir::Expr base, ir::Expr row,
                        ir::Expr column);

/// Describes `lanes` columns of the lowering's C, from (`row`, `column`) on, to the epilogue. `element` is
/// their index in memory.
EpiloguePlace place_of(const ProductView& view, ir::Expr row, ir::Expr column, ir::Expr element, int lanes,
                       std::optional<ir::Expr> active);

}  // namespace lehr
