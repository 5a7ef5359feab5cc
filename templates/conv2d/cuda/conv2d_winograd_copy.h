// Copies inputs and filters into shared memory, and transforms them on the way.
#pragma once

#include <functional>

#include "templates/conv2d/cuda/conv2d_winograd_block.h"

namespace lehr {

class WinogradCopy {
 public:
  WinogradCopy(ir::KernelBuilder& builder, const WinogradBlock& block);
  /// Defines the values that do not change from copy to copy, and allocates registers. Must come before
  /// everything else.
  ir::Block positions() const;
  /// Reads the thread's inputs and filters for group `group` of input channels into registers.
  ir::Block fetch(const ir::Expr& group) const;
  /// Transforms the inputs and filters in registers, and writes them to the stage that begins at `stage`.
  ir::Block store(const ir::Expr& stage) const;
  /// Does both, first for inputs and then for filters, which needs fewer registers.
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
  bool one_tile_ = false;  ///< whether all patches of a thread belong to one tile
  ir::BufferId patches_{}, filters_{};
  ir::VarId filter_thread_{}, tile_{}, image_{}, y0_{}, x0_{};
};

}  // namespace lehr
