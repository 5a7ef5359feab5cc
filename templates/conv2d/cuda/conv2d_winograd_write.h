// The way of the sums to the output: through shared memory, so that one thread has all products of a tile.
#pragma once

#include "templates/conv2d/cuda/conv2d_winograd_block.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {

/// The sums' transforms, `schedule.rounds` parts of the output channels one after the other; then `split`,
/// where it is not null, exchanges the outputs of blocks that share a tile. All threads have left the stages
/// behind them.
ir::Block winograd_write(ir::KernelBuilder& builder, const WinogradBlock& block,
                         const FusedEpilogue& epilogue, const SplitKSums* split, const SplitKPlace& place);

/// Outputs that a thread has for the exchange.
std::int64_t winograd_kept(const WinogradBlock& block);

}  // namespace lehr
