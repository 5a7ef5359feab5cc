// Writes the accumulators to C: from registers, or through shared memory.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_simt_compute.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr {

struct GemmSimtOutput {
  ir::BufferId c{};
  ir::Expr base = ir::integer(0);  ///< first element of this block's matrix
  std::int64_t m = 0, n = 0;
  std::int64_t row = 0;  ///< elements between neighbouring rows of C
  ir::VarId m0{}, n0{};  ///< corner of the block tile
  const FusedEpilogue& epilogue;
  bool channels_are_columns = true;         ///< whether channels are columns of this C; else they are rows
  ir::Expr first_channel = ir::integer(0);  ///< channel of its first column or row
  ir::BufferId staging{};  ///< threads x tn elements of shared memory; only with schedule.staged == 1
};

/// Returns the statements that store a thread's share. Staged: each warp puts one row of its threads' shares
/// after the other into its own piece of `staging`, and writes it out in vectors as long as C's rows permit,
/// lanes side by side. From registers, a vector is at most as long as the elements that a thread holds side
/// by side.
ir::Block gemm_simt_write(ir::KernelBuilder& builder, const GemmSimtThread& thread,
                          const GemmSimtOutput& output);

}  // namespace lehr
