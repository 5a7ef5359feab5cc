// Statements that store the accumulators of wgmma to C through shared memory. The tensor memory accelerator
// writes whole lines of C while the next tile is multiplied.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/gemm/cuda/gemm_wgmma_write.h"

namespace lehr {

/// Returns the tensor map through which the stores see C.
ir::TensorMap gemm_wgmma_store_map(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);

/// Stores a consumer's part of the tile of C. The part goes to the shared buffer `tile` (parts x boxes x rows
/// x columns of gemm_wgmma_stage(), swizzled), and from there to C. `reused`: whether an earlier tile of the
/// block has used the same memory. `matrix`: number of the matrix in the batch, if there is a batch.
ir::Block gemm_wgmma_store(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                           const GemmWgmmaSchedule& schedule, const GemmWgmmaOutput& output,
                           ir::BufferId tile, bool reused, const ir::Expr& matrix);

/// Waits for all stores. Must come after the last tile, because shared memory must exist until the stores
/// have read it.
ir::Block gemm_wgmma_store_end(ir::KernelBuilder& builder, const GemmWgmmaSchedule& schedule,
                               const GemmWgmmaOutput& output);

}  // namespace lehr
