// An operand's way into shared memory: loads of the tensor memory accelerator, as statements.
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

/// How the loads see the operand.
ir::TensorMap gemm_wgmma_load_map(const GemmWgmmaProblem& problem, const GemmWgmmaTile& tile);
/// Barrier `number` of an array of mbarriers.
ir::Touch gemm_wgmma_barrier(ir::BufferId barriers, ir::Expr number);

/// `body` by one thread of each warp for which `warp` holds, `warps` of those that come here: always the same
/// thread of it.
ir::Block gemm_wgmma_by_one(ir::KernelBuilder& builder, const ir::Expr& warp, std::int64_t warps,
                            ir::Block body);

/// Of a tile, for all of its stages: names the first pixel of a convolution's input. Nothing for others.
ir::Block gemm_wgmma_copy_begin(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                const GemmWgmmaSchedule& schedule, const GemmWgmmaWalk& walk,
                                const GemmWgmmaWalk::Place& place, GemmWgmmaPixel& pixel);

/// Which stage is filled, and with what.
struct GemmWgmmaStep {
  ir::BufferId full{};  ///< the stages' barriers that count the bytes
  ir::Expr k_tile;      ///< of the whole k
  ir::Expr stage;
  GemmWgmmaPixel pixel = {};  ///< gemm_wgmma_copy_begin()'s
};
/// Of a tile that several blocks of the cluster multiply, each brings one slice of every box, to all of them.
/// `is_rows`: the side that is taken 64 at a time.
ir::Block gemm_wgmma_copy(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                          const GemmWgmmaSchedule& schedule, const GemmWgmmaWalk& walk,
                          const GemmWgmmaSide& side, bool is_rows, const GemmWgmmaWalk::Place& place,
                          const GemmWgmmaStep& step);

}  // namespace lehr
