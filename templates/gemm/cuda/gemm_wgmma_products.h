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

/// Operands of a consumer's products: stage `stage`, which is number `k_tile` of its tile, and the rows from
/// `row` on.
struct GemmWgmmaOperands {
  const GemmWgmmaSide& rows;
  const GemmWgmmaSide& columns;
  ir::Expr row;
  ir::Expr stage;
  ir::Expr k_tile;
  ir::Expr member;  ///< the thread's number in its warpgroup
  /// Registers, for rows that come from them: gemm_wgmma_fragments().
  ir::BufferId fragments{};
  bool only_stage = false;  ///< whether the tile has no other stage
};

/// Returns all products of the stage, as one committed group of instructions. They are added to the
/// accumulators; in the first stage they replace them.
ir::Block gemm_wgmma_products(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                              const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums,
                              const GemmWgmmaOperands& operands);

/// Returns whether any products of the tile have sums of their own.
bool gemm_wgmma_has_first_level(const GemmWgmmaProblem& problem, const GemmWgmmaSchedule& schedule,
                                bool only_stage);
/// Returns the products with two levels of sums. Each sum of kTwoLevelK products is waited for and added to
/// the accumulators, which gemm_wgmma_clear() has cleared. Only in a tile with a single stage the
/// accumulators begin with the first such sum. No product is left running.
ir::Block gemm_wgmma_two_level_products(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                        const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums,
                                        const GemmWgmmaOperands& operands);
ir::Block gemm_wgmma_clear(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                           const GemmWgmmaSchedule& schedule, const GemmWgmmaSums& sums);

/// Keeps the compiler from moving reads of `count` sums before this statement, which follows the wait for
/// them.
ir::Stmt gemm_wgmma_keep(const GemmWgmmaProblem& problem, ir::BufferId sums, std::int64_t count);

}  // namespace lehr
