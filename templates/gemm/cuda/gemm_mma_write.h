// Statements that write the accumulators to C.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_mma_space.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {

struct GemmMmaOutput {
  ir::BufferId accumulators{};  ///< 4 for each 16 x 8 elements of the warp tile; tiles in row-major order
  ir::BufferId c{};
  const FusedEpilogue& epilogue;
  ir::BufferId tile{};  ///< shared: the block's sums, one tile per warp that shares k; used if C is staged
  /// Registers, used if C is staged: `vec` sums of the thread, with split_k > 1 all its sums.
  ir::BufferId sum{};
  /// Registers: `vec` sums of one of the warps that share k; used with k_warps > 1.
  ir::BufferId part{};
  ir::BufferId converted{};  ///< registers: elements of C; used if C has another type than the accumulators
  ir::VarId thread{}, lane{}, k_group{}, warp_m{}, warp_n{};
  ir::VarId m0{}, n0{};
  SplitKSums sums{};  ///< used with split_k > 1, as is the next member
  SplitKPlace place{};
  ir::Expr base = ir::integer(0);  ///< first element of this block's matrix of the batch
  std::int64_t row = 0;            ///< elements between neighbouring rows of C
  /// Whether the epilogue's channels are columns of C; otherwise they are rows.
  bool channels_are_columns = true;
  ir::Expr first_channel = ir::integer(0);  ///< first channel of this block's matrix
};

/// Writes the block tile's elements that lie inside C. Allocates its buffers. With split_k > 1, first
/// exchanges sums with the blocks that multiplied the other parts of k. If C is staged, the tile goes through
/// shared memory: the partial sums of the warps that share k are added there in a fixed order, and then the
/// threads write whole rows.
ir::Block gemm_mma_write(ir::KernelBuilder& builder, const GemmMmaProblem& problem,
                         const GemmMmaSchedule& schedule, const GemmMmaOutput& output);

}  // namespace lehr
