// One operand of gemm_mma, as statements: its tile from global to shared memory, and from there the fragments
// of a warp.
#pragma once

#include <optional>

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_mma_space.h"

namespace lehr {

/// The buffers and variables that the statements refer to.
struct GemmMmaOperand {
  GemmMmaTile tile;
  bool is_a = false;
  std::optional<ImageView> image = std::nullopt;  ///< see GemmMmaProblem
  /// View of the other operand, whose filters this one holds.
  std::optional<ImageView> filters_of = std::nullopt;
  ir::BufferId global{};
  ir::BufferId shared{};
  ir::BufferId in_flight{};   ///< registers between global and shared memory; unused with cp.async
  ir::BufferId fragment{};    ///< 32-bit registers, 4 for each 16 rows (columns) of the warp tile
  ir::BufferId rest{};        ///< the same for the rest of the fragment after rounding; 3xTF32 only
  ir::VarId line{}, along{};  ///< this thread's first element within the tile
  ir::VarId place{};          ///< position of `along` in that line of shared memory
  ir::VarId row{}, chunk{};   ///< this lane's share of a fragment: element offset; 16-byte chunk of the line
};

/// The variables of a thread that the operands share.
struct GemmMmaThread {
  ir::VarId thread{};
  ir::VarId lane{};
  ir::VarId warp_x{};   ///< position of the warp tile along the operand's x
  ir::VarId k_group{};  ///< which share of a tile's k the warp takes; unused with k_warps = 1
};

/// Where a tile begins in global memory. `base` is the matrix's first element, (k, x) the tile's corner. With
/// `whole_k` no element of the tile lies beyond k.
struct GemmMmaCorner {
  ir::Expr base = ir::integer(0);
  ir::Expr k = ir::integer(0);
  ir::Expr x = ir::integer(0);
  bool whole_k = true;
};

/// Returns the Lets of `line`, `along` and `place`.
ir::Block gemm_mma_copy_places(const GemmMmaOperand& operand, const GemmMmaThread& thread);
/// Copies from global memory to the tile at `stage` (in elements) of shared memory by cp.async, to be
/// committed and waited for. Elements outside the matrix become zero, here and below.
ir::Block gemm_mma_copy(ir::KernelBuilder& builder, const GemmMmaOperand& operand,
                        const GemmMmaThread& thread, const GemmMmaCorner& corner, const ir::Expr& stage);
/// Copy global memory to registers, and registers to shared memory, for operands whose lines cp.async cannot
/// copy.
ir::Block gemm_mma_load(ir::KernelBuilder& builder, const GemmMmaOperand& operand,
                        const GemmMmaThread& thread, const GemmMmaCorner& corner);
ir::Block gemm_mma_store(ir::KernelBuilder& builder, const GemmMmaOperand& operand,
                         const GemmMmaThread& thread, const ir::Expr& stage);

/// Returns the Lets of `row` and `chunk`.
ir::Block gemm_mma_fragment_places(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule,
                                   const GemmMmaOperand& operand, const GemmMmaThread& thread);
/// Loads the warp's fragments of mma step `step` of its share of k into the registers from `turn` on (in
/// registers, a constant once unrolled).
ir::Block gemm_mma_fragments(ir::KernelBuilder& builder, const GemmMmaProblem& problem,
                             const GemmMmaOperand& operand, const ir::Expr& stage, const ir::Expr& step,
                             const ir::Expr& turn);

}  // namespace lehr
