// Loads of an operand into shared memory by the tensor memory accelerator, as statements.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_image.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/gemm/cuda/gemm_wgmma_walk.h"

namespace lehr {

/// One operand's buffers.
struct GemmWgmmaSide {
  GemmWgmmaTile tile;
  ir::BufferId global{}, shared{};
};

/// Returns the operand as the loads see it.
ir::TensorMap gemm_wgmma_load_map(const GemmWgmmaProblem& problem, const GemmWgmmaTile& tile);
/// Returns barrier `number` of an array of mbarriers.
ir::Touch gemm_wgmma_barrier(ir::BufferId barriers, ir::Expr number);

/// Returns `body` for one thread, always the same, of each warp for which `warp` holds. `warps` is the number
/// of these among the arriving warps.
ir::Block gemm_wgmma_by_one(ir::KernelBuilder& builder, const ir::Expr& warp, std::int64_t warps,
                            ir::Block body);

/// Names the first pixel of a convolution's input for a tile, for all of its stages. Empty for other
/// operands.
ir::Block gemm_wgmma_copy_begin(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                const GemmWgmmaSchedule& schedule, const GemmWgmmaWalk& walk,
                                const GemmWgmmaWalk::Place& place, GemmWgmmaPixel& pixel);

/// The stage that is filled, and its tile of k.
struct GemmWgmmaStep {
  ir::BufferId full{};  ///< the stages' barriers that count the bytes
  ir::Expr k_tile;      ///< number in the whole k
  ir::Expr stage;
  GemmWgmmaPixel pixel = {};  ///< gemm_wgmma_copy_begin()'s
};
/// Fills a stage of one operand. If several blocks of the cluster multiply the tile, each block loads one
/// slice of every box, to all of them. `is_rows`: the side that is taken 64 at a time.
ir::Block gemm_wgmma_copy(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                          const GemmWgmmaSchedule& schedule, const GemmWgmmaWalk& walk,
                          const GemmWgmmaSide& side, bool is_rows, const GemmWgmmaWalk::Place& place,
                          const GemmWgmmaStep& step);

}  // namespace lehr
