// Statements that write the accumulators of wgmma to C from registers.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {

struct GemmWgmmaOutput {
  ir::BufferId accumulators{};  ///< bn / 2 for each 64 rows of the consumer
  ir::BufferId c{};
  const FusedEpilogue& epilogue;
  /// Registers, used if C has another type than the accumulators: 2 elements of C, 8 for stmatrix.
  ir::BufferId converted{};
  ir::VarId thread{}, lane{}, consumer{};
  ir::VarId row0{}, column0{};     ///< first row and column of the tile
  ir::Expr base = ir::integer(0);  ///< first element of the matrix of the batch
};

/// Applies the epilogue to `lanes` sums in their registers, from `first` on. They are the sums at (`row`,
/// `column`) and in the columns that follow, counted in the rows and columns of wgmma. All of them must lie
/// inside C.
ir::Block gemm_wgmma_epilogue(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                              const GemmWgmmaSchedule& schedule, const GemmWgmmaOutput& output,
                              const ir::Expr& first, const ir::Expr& row, const ir::Expr& column, int lanes);

/// Writes the tile's elements that lie inside C, from registers.
ir::Block gemm_wgmma_write(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                           const GemmWgmmaSchedule& schedule, const GemmWgmmaOutput& output);

}  // namespace lehr
