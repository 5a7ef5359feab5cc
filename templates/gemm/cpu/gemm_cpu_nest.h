// The loop nest of gemm_cpu, shared with the convolutions that are such products, wherever the operands lie.
//
//   for batch / for jc: blocks of columns / for pc: blocks of k
//     pack B's block into panels of nr columns             (pack_b)
//     for ic: blocks of rows
//       pack A's block into panels of mr rows              (pack_a)
//       for jt, it (order): tiles of the block             -> micro-kernel: mr x nr accumulators over kc
//
// Names as in BLIS; every level's size is a knob.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "templates/gemm/cpu/gemm_cpu_space.h"
#include "templates/shared/cpu_common.h"
#include "templates/shared/dot_form.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr::cpu {

/// A kernel under construction. Its members are set in this order: init(), the parameters, buffers and
/// functions, kernel().
struct GemmNest {
  /// Only m, n, k, batch and gated are used. k counts groups of the DotForm, here and in the schedule.
  ProductView p;
  const DotForm* form = &plain_form();
  GemmCpuSchedule s;
  bool masks_are_free = false;
  ir::KernelBuilder builder;
  FusedEpilogue epilogue;
  ir::BufferId c{};
  /// Loops, outermost first.
  ir::VarId work_item{}, batch{}, jc{}, pc{}, ic{}, jt{}, it{};
  /// The number of rows, if it is an argument of the call (p.usual_rows).
  ir::VarId rows{};
  /// First k of the current block; first column and first row of the current tile.
  ir::VarId k0{}, column{}, row{};

  // The members below may use the variables above. Their argument `k` counts from k0, `i` from `row`, `j`
  // from `column`.

  /// Returns a scalar of A (with forms that are not plain, a group) in tile `it` of the block.
  std::function<ir::Expr(const ir::Expr& i, const ir::Expr& k)> a_at;
  /// The buffer from which the micro-kernel reads B, in tile `jt` of the block.
  ir::BufferId b{};
  std::function<ir::Expr(const ir::Expr& k, const ir::Expr& j)> b_at;
  /// Whether the micro-kernel may read a vector that extends beyond the right edge of B. A vector that begins
  /// after the edge may never be read.
  bool b_is_whole = false;
  /// Whether B is whole (b_is_whole), and laid out as [k][nr] without gaps.
  bool b_in_panels = false;
  /// Elements from a row of B's tile to the same row of the next tile; for shared prefetches.
  std::int64_t next_tile = 0;
  /// Returns the flat index of C's element at a row and a column. Neighbouring columns have neighbouring
  /// indices. A gated pair of columns counts as one column.
  std::function<ir::Expr(const ir::Expr& row, const ir::Expr& column)> c_at;
  /// The correction of the sums, if they need one. `sums_of_b` then returns the sums of `lanes` columns of B
  /// from `j` on.
  Correction correction;
  std::function<ir::Expr(const ir::Expr& j)> sums_of_b;
  /// Describes a vector of C that begins at `element` to the epilogue.
  std::function<EpiloguePlace(const ir::Expr& row, const ir::Expr& column, const ir::Expr& element,
                              std::optional<ir::Expr> active)>
      place;
  /// Pack `tiles` tiles of the current block; null if the operand is not packed.
  std::function<ir::Stmt(const ir::Expr& tiles)> pack_a, pack_b;
  /// Returns statements to be executed for each block of columns (jc), before its blocks of k.
  std::function<ir::Block()> before_columns;
  /// Scratch buffers of a work item.
  std::vector<ir::BufferId> scratch;
  /// Statements at the start of a work item.
  ir::Block at_start;

  std::int64_t nr() const { return s.nv * s.lanes; }
  std::int64_t row_tiles() const { return ceil_div(p.m, s.mr); }
  std::int64_t column_tiles() const { return ceil_div(p.n, nr()); }
  std::int64_t k_blocks() const { return ceil_div(p.k, s.kc); }
  std::int64_t part_row_tiles() const { return ceil_div(row_tiles(), s.split == 0 ? s.threads : 1); }
  std::int64_t part_column_tiles() const { return ceil_div(column_tiles(), s.split == 1 ? s.threads : 1); }
  // Sizes of a block, limited to what a work item has.
  std::int64_t mc() const { return std::min(s.mc, part_row_tiles()); }
  std::int64_t nc() const { return std::min(s.nc, part_column_tiles()); }
  std::int64_t kc() const { return std::min(s.kc, p.k); }

  // The same for the described call, which analysis assumes.
  std::int64_t usual_part_row_tiles() const {
    return ceil_div(ceil_div(p.rows(), s.mr), s.split == 0 ? s.threads : 1);
  }
  std::int64_t usual_mc() const { return std::min(mc(), usual_part_row_tiles()); }

  bool any_rows() const { return p.usual_rows > 0; }
  /// Returns the number of rows of A and C.
  ir::Expr row_count() const { return any_rows() ? ir::var(rows) : ir::integer(p.m); }
  /// Returns the number of rows that exist from `row` on.
  ir::Expr rows_of_tile() const {
    const bool whole = !any_rows() && p.m % s.mr == 0;
    return whole || s.mr == 1 ? ir::integer(s.mr) : min(ir::integer(s.mr), row_count() - ir::var(row));
  }
  /// Returns the number of the matrix in the batch.
  ir::Expr matrix() const { return p.batch == 1 ? ir::integer(0) : ir::var(batch); }
  /// Returns the length of the current block of k; the last block may be shorter.
  ir::Expr k_extent() const;
  /// Return the first row (or column) of a tile of the current block.
  ir::Expr row_of(const ir::Expr& tile) const;
  ir::Expr column_of(const ir::Expr& tile) const;
  /// Returns the elements between neighbouring rows of an A that is packed by rows. It is a whole number of
  /// vectors, and an odd number of cache lines so that rows fall into all sets of the cache; it exceeds the
  /// row's length by at least a vector.
  std::int64_t a_row_stride() const {
    if (form->is_plain()) return ceil_div(kc(), 32) * 32 + 16;
    const std::int64_t line = 64 / size_of(form->first_panel);
    return ((ceil_div(kc() * form->group, line) + 1) | 1) * line;
  }
};

/// Sets the names of kernel and schedule, and creates the loop variables.
void init(GemmNest& nest, const char* name);
/// Moves the builder's kernel out.
ir::Kernel kernel_of(GemmNest& nest);

}  // namespace lehr::cpu
