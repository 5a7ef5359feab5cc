// A tile of C in vector registers together with a row of B: the innermost code of the outer-product CPU
// families.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ir/kernel.h"
#include "templates/shared/dot_form.h"

namespace lehr::cpu {

/// Returns whether a tile keeps a factor of each of its rows in registers while B's vectors pass one at a
/// time. x86's 16 registers need that if a row of B does not fit besides the accumulators: 3 x 4 and 2 x 6.
bool streams_b(std::int64_t rows, std::int64_t vectors);

/// Floats of a cache line of 64 bytes, or groups of a DotForm of the same size.
inline constexpr std::int64_t kLineFloats = 16;

/// `rows` x `columns` accumulators, kept as vectors of `lanes`. Lanes of the last vector beyond `columns` are
/// masked off in memory. The constructor makes its buffers and variables (acc, b_reg, i, j). Its methods
/// build statements and may be called in any order. Expressions given to it may use row(). If operands are
/// multiplied by groups, a group takes the role of a scalar of A and of a column of B: A's factor loads one,
/// and a column of B is one.
class RegisterTile {
 public:
  /// Returns the flat index of the element at a column of the tile, counted from its first one; of the
  /// current row() if that matters.
  using At = std::function<ir::Expr(ir::Expr column)>;
  /// Returns the stored value for the sums of a vector that begins at a column; `active` of its lanes exist.
  using Finish = std::function<ir::Expr(ir::Expr sums, ir::Expr column, std::optional<ir::Expr> active)>;

  /// Returns the stored value for two finished vectors: those of even columns, and their neighbours.
  using Gate = std::function<ir::Expr(ir::Expr even, ir::Expr odd)>;

  RegisterTile(ir::KernelBuilder& builder, std::int64_t rows, std::int64_t columns, std::int64_t lanes,
               const DotForm& form = plain_form());

  /// Masks every vector from now on: the tile may reach over the right edge anywhere. `columns_left` columns
  /// exist.
  void mask_everywhere(ir::Expr columns_left) { columns_left_ = std::move(columns_left); }

  /// Limits row() to `last`, which is at least 0, from now on: the tile may reach over the last row. Rows
  /// behind it are computed but not stored.
  void end_rows_at(ir::Expr last) { last_row_ = std::move(last); }

  /// Returns the row in memory.
  ir::Expr row() const { return last_row_ ? min(ir::var(i_), *last_row_) : ir::var(i_); }
  std::int64_t vectors() const { return vectors_; }
  /// Returns the cache lines in a row of B.
  std::int64_t lines() const;

  ir::Stmt allocate() const { return ir::Alloc{acc_}; }
  /// Makes one step of k: adds to C's tile a (a scalar that may depend on row()) times a row of B, in the
  /// order that suits the registers. `masked`: reads only columns of B that exist (a packed panel is whole).
  /// `beside` is executed once in it.
  ir::Block step(ir::KernelBuilder& builder, ir::BufferId b, const At& at, bool masked, const ir::Expr& a,
                 const ir::Block& beside = {}) const;
  /// Sets the sums to 0, or to a vector for each column.
  ir::Stmt clear(const At& first = {}) const;
  ir::Stmt load_c(ir::BufferId c, const At& at) const;
  ir::Stmt store_c(ir::BufferId c, const At& at) const;
  ir::Stmt store_c(ir::BufferId c, const At& at, const Finish& finish) const;
  /// Does the same for columns in pairs, which `gate` combines. `at` counts the columns of C.
  ir::Stmt store_pairs(ir::KernelBuilder& builder, ir::BufferId c, const At& at, const Finish& finish,
                       const Gate& gate) const;
  /// Prefetches `lines` consecutive lines of a row of B.
  ir::Stmt prefetch_b(ir::BufferId b, std::int64_t lines, const At& at) const;

 private:
  /// Fills the row of B.
  ir::Block load_b(ir::BufferId b, const At& at, bool masked) const;
  ir::Stmt multiply_add(const ir::Expr& a) const;
  /// Keeps a vector of B's row, which takes one of the last registers, from being loaded with each use.
  ir::Stmt hold(const ir::Expr& column) const;
  using Make = std::function<ir::Stmt(ir::Expr column, std::optional<ir::Expr> active)>;
  /// Returns `make` for each vector of a row, with the number of its lanes that exist if not all do.
  ir::Block per_vector(const Make& make) const;
  ir::Stmt over_rows(ir::Block body) const;
  /// Returns `body` for the rows that are stored.
  ir::Stmt over_stored_rows(ir::Block body) const;
  ir::Expr acc_at(ir::Expr column) const { return ir::var(i_) * (vectors_ * lanes_) + std::move(column); }
  ir::Expr vector_at(ir::BufferId buffer, ir::Expr index, std::optional<ir::Expr> active) const;

  const DotForm& form_;
  std::int64_t rows_, lanes_, vectors_;
  std::int64_t last_active_;  // lanes of the last vector that exist
  std::optional<ir::Expr> columns_left_, last_row_;
  ir::BufferId acc_{}, b_reg_{};
  ir::VarId i_{}, j_{};
};

}  // namespace lehr::cpu
