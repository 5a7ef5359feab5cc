// The products of one stage of k, as statements: wgmma, and how its sums are added up.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_copy.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"

namespace lehr {

struct GemmWgmmaSums {
  ir::BufferId accumulators{};  ///< registers: bn / 2 for each 64 rows of the consumer
  ir::BufferId first_level{};   ///< registers, where gemm_wgmma_has_first_level(): columns() / 2
};

/// What a consumer multiplies: from `stage`, which is number `k_tile` of its tile, the rows from `row` on.
struct GemmWgmmaOperands {
  const GemmWgmmaSide& rows;
  const GemmWgmmaSide& columns;
  ir::Expr row;
  ir::Expr stage;
  ir::Expr k_tile;
  ir::Expr member;           ///< the thread's number in its warpgroup
  ir::BufferId fragments{};  ///< registers, of rows that come from them: gemm_wgmma_fragments()
  bool only_stage = false;   ///< the tile has no other
};

/// All products of the stage, as one committed group of instructions: the accumulators += them, or = them in
/// the first stage.
ir::Block gemm_wgmma_products(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                              const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums,
                              const GemmWgmmaOperands& operands);

/// Whether any products of the tile have sums of their own.
bool gemm_wgmma_has_first_level(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule,
                                bool only_stage);
/// The same with two levels of sums: those of kTwoLevelK products are waited for and added to the
/// accumulators, which gemm_wgmma_clear() has cleared, but for the first ones of a tile's only stage, which
/// they begin with. Nothing is left under way.
ir::Block gemm_wgmma_two_level_products(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                        const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums,
                                        const GemmWgmmaOperands& operands);
ir::Block gemm_wgmma_clear(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                           const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums);

/// No read of `count` sums moves before this statement: behind the wait for them.
ir::Stmt gemm_wgmma_keep(const GemmWgmmaProblem& problem, ir::BufferId sums, std::int64_t count);

}  // namespace lehr
