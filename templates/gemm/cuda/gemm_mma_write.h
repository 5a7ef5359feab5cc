// From accumulators to C, as statements.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_mma_space.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {

struct GemmMmaOutput {
  ir::BufferId accumulators{};  ///< 4 for each 16 x 8 of the warp tile, rows of tiles first
  ir::BufferId c{};
  const FusedEpilogue& epilogue;
  ir::BufferId tile{};  ///< shared: the block's sums, one tile for each share of k; used if staged
  /// Registers: `vec` of these elements (with split_k > 1, all elements of the thread); used if staged.
  ir::BufferId sum{};
  ir::BufferId part{};       ///< the same for one share of k; used with k_warps > 1
  ir::BufferId converted{};  ///< registers: elements of C; used if C has another type than the accumulators
  ir::VarId thread{}, lane{}, k_group{}, warp_m{}, warp_n{};
  ir::VarId m0{}, n0{};
  SplitKSums sums{};  ///< used with split_k > 1, with `place`
  SplitKPlace place{};
  ir::Expr base = ir::integer(0);    ///< first element of this block's matrix of the batch
  std::int64_t row = 0;              ///< elements between neighbouring rows of C
  bool channels_are_columns = true;  ///< whether the epilogue's channels are columns; else they are rows
  ir::Expr first_channel = ir::integer(0);  ///< first channel of this block's matrix
};

/// Writes the block tile's elements that lie inside C. Allocates its buffers, and first exchanges sums with
/// the blocks that have the other parts of k. If staged, the tile goes through shared memory. It is summed
/// over the warps that share k in the order of their shares, and then the threads write whole rows.
ir::Block gemm_mma_write(ir::KernelBuilder& builder, const GemmMmaProblem& problem,
                         const GemmMmaSchedule& schedule, const GemmMmaOutput& output);

}  // namespace lehr
