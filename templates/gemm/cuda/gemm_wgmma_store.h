// From the accumulators of wgmma to C by way of shared memory, as statements: whole lines of C in any order
// of the threads, written by the tensor memory accelerator while the next tile is multiplied.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/gemm/cuda/gemm_wgmma_write.h"

namespace lehr {

/// How the stores see C.
ir::TensorMap gemm_wgmma_store_map(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule);

/// The consumer's part of the tile into `tile` (shared, gemm_wgmma_stage(): parts x boxes x rows x columns,
/// swizzled) and on to C. `reused`: an earlier tile of the block went the same way. `matrix` of the batch, if
/// there is one.
ir::Block gemm_wgmma_store(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                           const GemmWgmmaSchedule& schedule, const GemmWgmmaOutput& output,
                           ir::BufferId tile, bool reused, const ir::Expr& matrix);

/// To come behind the last tile: shared memory must live until it has been read.
ir::Block gemm_wgmma_store_end(ir::KernelBuilder& builder, const GemmWgmmaSchedule& schedule,
                               const GemmWgmmaOutput& output);

}  // namespace lehr
