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
  std::int64_t row = 0;  ///< distance between neighbouring rows of C in elements
  ir::VarId m0{}, n0{};  ///< first row and column of the block tile
  const FusedEpilogue& epilogue;
  /// Whether the epilogue's channels are columns of this C; otherwise they are rows.
  bool channels_are_columns = true;
  ir::Expr first_channel = ir::integer(0);  ///< channel of this C's first column or row
  ir::BufferId staging{};  ///< threads x tn elements of shared memory; only with schedule.staged == 1
};

/// Writes a thread's part of the tile to C. If schedule.staged is 1, C goes through shared memory: each warp
/// stores one row of its threads' parts at a time to its own piece of `staging`, and then writes this row to
/// C. Neighbouring lanes write neighbouring vectors, which are as long as the rows of C permit. Without
/// staging, a vector is at most as long as the sequence of neighbouring columns that a thread holds.
ir::Block gemm_simt_write(ir::KernelBuilder& builder, const GemmSimtThread& thread,
                          const GemmSimtOutput& output);

}  // namespace lehr
