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
  ir::VarId m0{}, n0{};  ///< first row and column of the block tile
  const FusedEpilogue& epilogue;
  /// Whether the epilogue's channels are columns of this C; otherwise they are rows.
  bool channels_are_columns = true;
  ir::Expr first_channel = ir::integer(0);  ///< channel of this C's first column or row
  ir::BufferId staging{};  ///< threads x tn elements of shared memory; only with schedule.staged == 1
};

/// Writes a thread's part of the tile to C. If staged, each warp takes the rows of its threads' parts one
/// after the other: it stores a row to its own piece of `staging`, and writes it to C in vectors as long as
/// C's rows permit, with neighbouring lanes side by side. From registers, a vector is at most as long as the
/// sequence of neighbouring columns that a thread holds.
ir::Block gemm_simt_write(ir::KernelBuilder& builder, const GemmSimtThread& thread,
                          const GemmSimtOutput& output);

}  // namespace lehr
