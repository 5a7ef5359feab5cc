// Writes the sums to the output through shared memory, so that one thread gets all products of a tile.
#pragma once

#include "templates/conv2d/cuda/conv2d_winograd_block.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {

/// Transforms the sums and writes the outputs, in `schedule.rounds` rounds, each for a portion of the output
/// channels. If `split` is not null, the blocks that share a tile then exchange their outputs. All threads
/// must have finished reading the stages.
ir::Block winograd_write(ir::KernelBuilder& builder, const WinogradBlock& block,
                         const FusedEpilogue& epilogue, const SplitKSums* split, const SplitKPlace& place);

/// Returns the number of outputs that a thread keeps for the exchange.
std::int64_t winograd_kept(const WinogradBlock& block);

}  // namespace lehr
