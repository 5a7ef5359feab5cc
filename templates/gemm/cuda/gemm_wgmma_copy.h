// Statements that load an operand into shared memory by the tensor memory accelerator.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_image.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/gemm/cuda/gemm_wgmma_walk.h"

namespace lehr {

/// Buffers of one operand.
struct GemmWgmmaSide {
  GemmWgmmaTile tile;
  ir::BufferId global{}, shared{};
};

/// Returns the tensor map through which the loads see the operand.
ir::TensorMap gemm_wgmma_load_map(const GemmWgmmaProblem& problem, const GemmWgmmaTile& tile);
/// Returns barrier `number` of an array of mbarriers.
ir::Touch gemm_wgmma_barrier(ir::BufferId barriers, ir::Expr number);

/// Returns `body`, to be executed by one thread (always the same) of each warp for which `warp` holds.
/// `warps` is the number of such warps among the warps that execute the statement.
ir::Block gemm_wgmma_by_one(ir::KernelBuilder& builder, const ir::Expr& warp, std::int64_t warps,
                            ir::Block body);

/// For the pixels of a convolution's input: names the first pixel of a tile, which all stages use. Returns an
/// empty block for other operands.
ir::Block gemm_wgmma_copy_begin(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                const GemmWgmmaSchedule& schedule, const GemmWgmmaWalk& walk,
                                const GemmWgmmaWalk::Place& place, GemmWgmmaPixel& pixel);

/// The stage that is filled, and the tile of k that goes there.
struct GemmWgmmaStep {
  ir::BufferId full{};  ///< mbarriers of the stages, which count the arriving bytes
  ir::Expr k_tile;      ///< number of the tile along the whole k
  ir::Expr stage;
  GemmWgmmaPixel pixel = {};  ///< the pixel of gemm_wgmma_copy_begin()
};
/// Fills a stage of one operand. If several blocks of the cluster multiply the same tile, each block loads
/// one slice of every box to all of them. `is_rows` selects the operand of which the instruction takes 64
/// rows at a time.
ir::Block gemm_wgmma_copy(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                          const GemmWgmmaSchedule& schedule, const GemmWgmmaWalk& walk,
                          const GemmWgmmaSide& side, bool is_rows, const GemmWgmmaWalk::Place& place,
                          const GemmWgmmaStep& step);

}  // namespace lehr
