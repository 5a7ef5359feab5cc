// Writes the sums to the output through shared memory, so that one thread has all products of a tile.
#pragma once

#include "templates/conv2d/cuda/conv2d_winograd_block.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {

/// Transforms the sums, in `schedule.rounds` portions of the output channels one after the other. Then
/// `split`, if it is not null, exchanges the outputs of blocks that share a tile. All threads must be done
/// with the stages.
ir::Block winograd_write(ir::KernelBuilder& builder, const WinogradBlock& block,
                         const FusedEpilogue& epilogue, const SplitKSums* split, const SplitKPlace& place);

/// Returns the outputs that a thread has for the exchange.
std::int64_t winograd_kept(const WinogradBlock& block);

}  // namespace lehr
