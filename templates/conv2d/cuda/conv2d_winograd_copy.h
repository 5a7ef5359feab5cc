// Copies of inputs and filters into shared memory, transformed on the way.
#pragma once

#include <functional>

#include "templates/conv2d/cuda/conv2d_winograd_block.h"

namespace lehr {

class WinogradCopy {
 public:
  WinogradCopy(ir::KernelBuilder& builder, const WinogradBlock& block);
  /// Computes the values that stay the same from copy to copy; allocates registers. Comes before everything
  /// else.
  ir::Block positions() const;
  /// Reads the thread's inputs and filters of group `group` of input channels into registers.
  ir::Block fetch(const ir::Expr& group) const;
  /// Writes them, transformed, into the stage that begins at `stage`.
  ir::Block store(const ir::Expr& stage) const;
  /// Does both at once, patches before filters: fewer registers.
  ir::Block move(const ir::Expr& group, const ir::Expr& stage) const;

 private:
  ir::Block each(bool inputs, const std::function<ir::Block(const ir::Expr& i)>& body) const;
  ir::Block place_tile(const ir::Expr& i) const;
  WinogradItem patch(const ir::Expr& i) const;
  std::int64_t vector() const;
  /// Returns the elements between rows of a patch in registers.
  std::int64_t patch_row() const { return 2 * w_.schedule.tile; }
  ir::Expr in_patch(const ir::Expr& i, const ir::Expr& row, const ir::Expr& column) const;
  ir::Block fetch_patch(const ir::Expr& i, const ir::Expr& group) const;
  ir::Block fetch_filter(const ir::Expr& i, const ir::Expr& group) const;
  ir::Block transform_patch(const ir::Expr& i, const ir::Expr& stage) const;
  ir::Block transform_filter(const ir::Expr& i, const ir::Expr& stage) const;

  ir::KernelBuilder& b_;
  const WinogradBlock& w_;
  bool one_tile_ = false;  ///< whether all patches of a thread are of one tile
  ir::BufferId patches_{}, filters_{};
  ir::VarId filter_thread_{}, tile_{}, image_{}, y0_{}, x0_{};
};

}  // namespace lehr
