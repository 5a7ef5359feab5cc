// Stores the accumulators of wgmma to C through shared memory, as statements. Whole lines of C, in any order
// of the threads, are written by the tensor memory accelerator while the next tile is multiplied.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/gemm/cuda/gemm_wgmma_write.h"

namespace lehr {

/// Returns C as the stores see it.
ir::TensorMap gemm_wgmma_store_map(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);

/// Stores the consumer's share of the tile to `tile` (shared, gemm_wgmma_stage(): parts x boxes x rows x
/// columns, swizzled) and from there to C. `reused`: an earlier tile of the block used the same memory.
/// `matrix` is that of the batch, if there is a batch.
ir::Block gemm_wgmma_store(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                           const GemmWgmmaSchedule& schedule, const GemmWgmmaOutput& output,
                           ir::BufferId tile, bool reused, const ir::Expr& matrix);

/// Must come after the last tile: shared memory must live until it has been read.
ir::Block gemm_wgmma_store_end(ir::KernelBuilder& builder, const GemmWgmmaSchedule& schedule,
                               const GemmWgmmaOutput& output);

}  // namespace lehr
