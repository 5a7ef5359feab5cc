// Data that the parts of conv2d_winograd's lowering share: the schedule and its shape, tensors, the positions
// of the block and the thread.
#pragma once

#include "ir/kernel.h"
#include "templates/conv2d/cuda/conv2d_winograd_space.h"
#include "templates/shared/winograd.h"

namespace lehr {

struct WinogradBlock {
  const Conv2d& conv;
  WinogradCudaSchedule schedule;
  WinogradCudaShape shape;
  const Winograd& algorithm;
  ir::BufferId x{}, f{}, y{};
  /// Shared memory for the stages, and later for the sums of a round. A stage holds the transformed filters
  /// u[product][input channel][output channel], followed by the transformed inputs v[product][input
  /// channel][tile].
  ir::BufferId shared{};
  ir::BufferId sums{};  ///< registers for the thread's sums: [product][output channel][tile]
  ir::VarId thread{};
  ir::VarId m0{}, n0{};       ///< first output channel and tile of the block
  ir::VarId product{};        ///< first product of the thread
  ir::VarId row{}, column{};  ///< first output channel and first tile of the thread within the block

  bool nhwc() const { return conv.layout == ImageLayout::kNhwc; }
  /// Returns where the transformed inputs begin in a stage.
  std::int64_t inputs_at() const { return schedule.all_products() * schedule.bk * shape.u_stride; }
};

/// Position of a tile: its image, and its first row and column of outputs.
struct WinogradTile {
  ir::Expr image, row, column;
};
/// Returns the position of tile `number`, counted over all images.
WinogradTile winograd_tile(const WinogradBlock& block, const ir::Expr& number);

/// Position of the `i`-th item of thread `thread` as (inner, outer). Items that are neighbours along `inner`
/// belong to neighbouring threads.
struct WinogradItem {
  ir::Expr inner, outer;
};
WinogradItem winograd_item(const ir::Expr& thread, const ir::Expr& i, std::int64_t threads,
                           std::int64_t inner);
/// Returns `body` with a condition that holds only for items that exist: `all` items are distributed over
/// `threads`.
ir::Block winograd_existing(const ir::Expr& thread, const ir::Expr& i, std::int64_t threads, std::int64_t all,
                            ir::Block body);

}  // namespace lehr
