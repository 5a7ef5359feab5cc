// A tile of C in vector registers, and a row of B: the innermost code of the CPU families that use outer
// products.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ir/kernel.h"
#include "templates/shared/dot_form.h"

namespace lehr::cpu {

/// Returns whether a tile keeps one factor for each of its rows in registers and loads B's vectors one at a
/// time. With the 16 registers of x86 without AVX-512, that is necessary if a row of B does not fit next to
/// the accumulators: for 3 x 4 and 2 x 6.
bool streams_b(std::int64_t rows, std::int64_t vectors);

/// Floats in a cache line of 64 bytes; also the number of groups of a DotForm in a line.
inline constexpr std::int64_t kLineFloats = 16;

/// `rows` x `columns` accumulators, kept as vectors of `lanes`. Lanes of the last vector beyond `columns` are
/// masked when memory is accessed. The constructor creates the tile's buffers and variables (acc, b_reg, i,
/// j). The methods build statements and may be called in any order; expressions passed to them may use row().
/// If operands are multiplied in groups (DotForm), a group of A takes the role of a scalar of A, and a group
/// of B that of an element of B.
class RegisterTile {
 public:
  /// Returns the flat index of the element at `column`, counted from the tile's first column. It may depend
  /// on row().
  using At = std::function<ir::Expr(ir::Expr column)>;
  /// Returns the values to be stored for the sums of a vector that begins at `column`; `active` of its lanes
  /// exist.
  using Finish = std::function<ir::Expr(ir::Expr sums, ir::Expr column, std::optional<ir::Expr> active)>;

  /// Returns the values to be stored for two finished vectors: the even columns and the odd columns.
  using Gate = std::function<ir::Expr(ir::Expr even, ir::Expr odd)>;

  RegisterTile(ir::KernelBuilder& builder, std::int64_t rows, std::int64_t columns, std::int64_t lanes,
               const DotForm& form = plain_form());

  /// Masks every vector from now on, for a tile that may extend beyond the right edge at any column.
  /// `columns_left` columns exist.
  void mask_everywhere(ir::Expr columns_left) { columns_left_ = std::move(columns_left); }

  /// Limits row() to `last` (at least 0) from now on, for a tile that may extend beyond the last row. Rows
  /// after `last` are computed but not stored.
  void end_rows_at(ir::Expr last) { last_row_ = std::move(last); }

  /// Returns the current row, within the limit of end_rows_at().
  ir::Expr row() const { return last_row_ ? min(ir::var(i_), *last_row_) : ir::var(i_); }
  std::int64_t vectors() const { return vectors_; }
  /// Returns the number of cache lines in a row of B.
  std::int64_t lines() const;

  ir::Stmt allocate() const { return ir::Alloc{acc_}; }
  /// Returns one step of k: adds a times a row of B to the tile of C, in the order that suits the registers.
  /// `a` is a scalar that may depend on row(). `masked`: reads only columns of B that exist (in a packed
  /// panel all columns exist). `beside` is executed once during the step.
  ir::Block step(ir::KernelBuilder& builder, ir::BufferId b, const At& at, bool masked, const ir::Expr& a,
                 const ir::Block& beside = {}) const;
  /// Sets the accumulators to 0, or to the vectors that begin at first(column).
  ir::Stmt clear(const At& first = {}) const;
  ir::Stmt load_c(ir::BufferId c, const At& at) const;
  ir::Stmt store_c(ir::BufferId c, const At& at) const;
  ir::Stmt store_c(ir::BufferId c, const At& at, const Finish& finish) const;
  /// Does the same for pairs of columns, which `gate` combines. `at` counts the columns of C.
  ir::Stmt store_pairs(ir::KernelBuilder& builder, ir::BufferId c, const At& at, const Finish& finish,
                       const Gate& gate) const;
  /// Prefetches the first `lines` cache lines of a row of B.
  ir::Stmt prefetch_b(ir::BufferId b, std::int64_t lines, const At& at) const;

 private:
  /// Loads a row of B into b_reg.
  ir::Block load_b(ir::BufferId b, const At& at, bool masked) const;
  ir::Stmt multiply_add(const ir::Expr& a) const;
  /// Makes the compiler keep a vector of B's row in its register instead of loading it again for each use
  /// (the intrinsic "hold_").
  ir::Stmt hold(const ir::Expr& column) const;
  using Make = std::function<ir::Stmt(ir::Expr column, std::optional<ir::Expr> active)>;
  /// Returns make() for each vector of a row. It gets the number of lanes that exist if that is not all
  /// lanes.
  ir::Block per_vector(const Make& make) const;
  ir::Stmt over_rows(ir::Block body) const;
  /// Returns a loop that executes `body` for the rows that are stored.
  ir::Stmt over_stored_rows(ir::Block body) const;
  ir::Expr acc_at(ir::Expr column) const { return ir::var(i_) * (vectors_ * lanes_) + std::move(column); }
  ir::Expr vector_at(ir::BufferId buffer, ir::Expr index, std::optional<ir::Expr> active) const;

  const DotForm& form_;
  std::int64_t rows_, lanes_, vectors_;
  std::int64_t last_active_;  // number of lanes of the last vector that exist
  std::optional<ir::Expr> columns_left_, last_row_;
  ir::BufferId acc_{}, b_reg_{};
  ir::VarId i_{}, j_{};
};

}  // namespace lehr::cpu
