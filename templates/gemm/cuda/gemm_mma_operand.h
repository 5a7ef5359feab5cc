// Statements for one operand of gemm_mma: they copy its tile from global to shared memory, and load the
// fragments of a warp from there.
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
  /// If given, this operand holds the filters, and the view is that of the other operand.
  std::optional<ImageView> filters_of = std::nullopt;
  ir::BufferId global{};
  ir::BufferId shared{};
  /// Registers that hold the tile between global and shared memory; unused with cp.async.
  ir::BufferId in_flight{};
  ir::BufferId fragment{};  ///< 32-bit registers, 4 for each 16 rows (columns) of the warp tile
  /// For 3xTF32 only: registers for the remainders of the fragment's elements after rounding to tf32.
  ir::BufferId rest{};
  ir::VarId line{}, along{};  ///< this thread's first element within the tile
  /// Position of element `along` within its line in shared memory, which is swizzled.
  ir::VarId place{};
  /// Where this lane's part of a fragment begins: offset of its row in elements, 16-byte chunk in the row.
  ir::VarId row{}, chunk{};
};

/// The variables of a thread that both operands use.
struct GemmMmaThread {
  ir::VarId thread{};
  ir::VarId lane{};
  ir::VarId warp_x{};   ///< position of the warp tile along the operand's x
  ir::VarId k_group{};  ///< which part of a tile's k the warp multiplies; unused with k_warps = 1
};

/// Where a tile begins in global memory. `base` is the matrix's first element, (k, x) are the coordinates of
/// the tile's first element. With `whole_k`, the tile does not extend beyond the matrix along k.
struct GemmMmaCorner {
  ir::Expr base = ir::integer(0);
  ir::Expr k = ir::integer(0);
  ir::Expr x = ir::integer(0);
  bool whole_k = true;
};

/// Returns the Lets that define `line`, `along` and `place`.
ir::Block gemm_mma_copy_places(const GemmMmaOperand& operand, const GemmMmaThread& thread);
/// Copies the tile from global memory to `stage` (an offset in elements) of shared memory by cp.async. The
/// copies must be committed and waited for. Elements outside of the matrix become zero; so they do in the
/// functions below.
ir::Block gemm_mma_copy(ir::KernelBuilder& builder, const GemmMmaOperand& operand,
                        const GemmMmaThread& thread, const GemmMmaCorner& corner, const ir::Expr& stage);
/// Copy the tile from global memory to registers, and from registers to shared memory. For operands whose
/// lines cp.async cannot copy.
ir::Block gemm_mma_load(ir::KernelBuilder& builder, const GemmMmaOperand& operand,
                        const GemmMmaThread& thread, const GemmMmaCorner& corner);
ir::Block gemm_mma_store(ir::KernelBuilder& builder, const GemmMmaOperand& operand,
                         const GemmMmaThread& thread, const ir::Expr& stage);

/// Returns the Lets that define `row` and `chunk`.
ir::Block gemm_mma_fragment_places(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule,
                                   const GemmMmaOperand& operand, const GemmMmaThread& thread);
/// Loads the fragments for step `step` of the warp's part of k. They go to the fragment registers, from index
/// `turn` on (a constant once unrolled).
ir::Block gemm_mma_fragments(ir::KernelBuilder& builder, const GemmMmaProblem& problem,
                             const GemmMmaOperand& operand, const ir::Expr& stage, const ir::Expr& step,
                             const ir::Expr& turn);

}  // namespace lehr
