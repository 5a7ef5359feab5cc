// A tile of C in vector registers with a row of B beside it: the innermost part that the outer-product CPU
// families share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ir/kernel.h"
#include "templates/shared/dot_form.h"

namespace lehr::cpu {

/// Whether a tile of so many rows holds a factor of each of its rows in registers while B's vectors pass one
/// at a time, as x86's 16 registers want it where a row of B does not fit beside the accumulators: 3 x 4 and
/// 2 x 6.
bool streams_b(std::int64_t rows, std::int64_t vectors);

/// Floats of a cache line of 64 bytes, or groups of a DotForm that take as much.
inline constexpr std::int64_t kLineFloats = 16;

/// `rows` x `columns` accumulators, kept as vectors of `lanes`; the part of the last vector that lies beyond
/// `columns` is masked off in memory. Hands out its buffers and variables (acc, b_reg, i, j) on construction;
/// its methods build statements and may be called in any order. Expressions given to it may use row(). Of
/// operands that are multiplied by groups, what holds of a scalar of A and of a column of B holds of a group:
/// A's factor loads one, and a column of B is one.
class RegisterTile {
 public:
  /// Flat index of the element at a column of the tile, counted from its first one; of the current row()
  /// where that matters.
  using At = std::function<ir::Expr(ir::Expr column)>;
  /// What is stored for the sums of a vector that begins at a column; `active` of its lanes exist.
  using Finish = std::function<ir::Expr(ir::Expr sums, ir::Expr column, std::optional<ir::Expr> active)>;

  /// What is stored for two finished vectors: those of even columns, and their neighbours.
  using Gate = std::function<ir::Expr(ir::Expr even, ir::Expr odd)>;

  RegisterTile(ir::KernelBuilder& builder, std::int64_t rows, std::int64_t columns, std::int64_t lanes,
               const DotForm& form = plain_form());

  /// The tile may reach over the right edge anywhere: from now on every vector is masked; `columns_left`
  /// columns exist.
  void mask_everywhere(ir::Expr columns_left) { columns_left_ = std::move(columns_left); }

  /// The tile may reach over the last row: from now on row() is at most `last`, which is at least 0, and rows
  /// behind that one are computed but not stored.
  void end_rows_at(ir::Expr last) { last_row_ = std::move(last); }

  /// Of memory.
  ir::Expr row() const { return last_row_ ? min(ir::var(i_), *last_row_) : ir::var(i_); }
  std::int64_t vectors() const { return vectors_; }
  /// Of the cache, in a row of B.
  std::int64_t lines() const;

  ir::Stmt allocate() const { return ir::Alloc{acc_}; }
  /// One step of k: C's tile += a (a scalar that may depend on row()) times a row of B, in the order that the
  /// registers want. `masked`: only columns of B that exist are read (a packed panel is whole). `beside` is
  /// done once in it.
  ir::Block step(ir::KernelBuilder& builder, ir::BufferId b, const At& at, bool masked, const ir::Expr& a,
                 const ir::Block& beside = {}) const;
  /// The sums begin with 0, or with a vector for each column.
  ir::Stmt clear(const At& first = {}) const;
  ir::Stmt load_c(ir::BufferId c, const At& at) const;
  ir::Stmt store_c(ir::BufferId c, const At& at) const;
  ir::Stmt store_c(ir::BufferId c, const At& at, const Finish& finish) const;
  /// The same of columns in pairs, which `gate` makes one of: `at` counts the columns of C.
  ir::Stmt store_pairs(ir::KernelBuilder& builder, ir::BufferId c, const At& at, const Finish& finish,
                       const Gate& gate) const;
  /// Prefetches so many lines of a row of B that follow each other.
  ir::Stmt prefetch_b(ir::BufferId b, std::int64_t lines, const At& at) const;

 private:
  /// Fills the row of B.
  ir::Block load_b(ir::BufferId b, const At& at, bool masked) const;
  ir::Stmt multiply_add(const ir::Expr& a) const;
  /// Says that a vector of B's row, which takes one of the last registers, is not to be loaded with each use.
  ir::Stmt hold(const ir::Expr& column) const;
  using Make = std::function<ir::Stmt(ir::Expr column, std::optional<ir::Expr> active)>;
  /// `make` for each vector of a row, with the number of its lanes that exist where that is not all of them.
  ir::Block per_vector(const Make& make) const;
  ir::Stmt over_rows(ir::Block body) const;
  /// Those that are stored.
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
