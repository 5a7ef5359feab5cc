// Statements for the products of one stage of k by wgmma, and for the addition of the products' sums.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_copy.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"

namespace lehr {

struct GemmWgmmaSums {
  ir::BufferId accumulators{};  ///< registers: bn / 2 for each 64 rows of the consumer
  ir::BufferId first_level{};   ///< registers: columns() / 2; used if gemm_wgmma_has_first_level()
};

/// Operands of a consumer's products. They are in stage number `stage`, which holds tile number `k_tile` of
/// k; the consumer's rows begin with `row`.
struct GemmWgmmaOperands {
  const GemmWgmmaSide& rows;
  const GemmWgmmaSide& columns;
  ir::Expr row;
  ir::Expr stage;
  ir::Expr k_tile;
  ir::Expr member;  ///< the thread's number in its warpgroup
  /// Registers for rows of an operand that comes from registers (gemm_wgmma_fragments()).
  ir::BufferId fragments{};
  bool only_stage = false;  ///< whether the tile of C has only this stage
};

/// Returns all products of the stage, as one committed group of instructions. The products of the first stage
/// replace the accumulators' values, those of later stages are added to them.
ir::Block gemm_wgmma_products(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                              const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums,
                              const GemmWgmmaOperands& operands);

/// Returns whether some products of the tile are summed up in separate registers before they are added to the
/// accumulators.
bool gemm_wgmma_has_first_level(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule,
                                bool only_stage);
/// Returns the products of the stage with two levels of sums. Each partial sum of kTwoLevelK products is
/// waited for, and then added to the accumulators, which gemm_wgmma_clear() must have cleared. Exception: in
/// a tile with a single stage, the first partial sum is computed in the accumulators. No product is still
/// running at the end.
ir::Block gemm_wgmma_two_level_products(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                        const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums,
                                        const GemmWgmmaOperands& operands);
ir::Block gemm_wgmma_clear(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                           const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums);

/// Keeps the compiler from moving reads of the first `count` registers of `sums` before this statement. The
/// statement follows the wait for the products.
ir::Stmt gemm_wgmma_keep(const GemmWgmmaProblem& problem, ir::BufferId sums, std::int64_t count);

}  // namespace lehr
