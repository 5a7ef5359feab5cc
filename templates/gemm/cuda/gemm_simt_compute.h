// A thread's work on the tiles in shared memory: fragments into registers, multiply-adds.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_simt_copy.h"
#include "templates/gemm/cuda/gemm_simt_space.h"

namespace lehr {

/// A thread's part of the block tile, and its variables in the statements. Row i of the part is row `row` + i
/// % h + i / h * (lanes_m * h) of the block tile, where h is the fragment width of A. Columns are distributed
/// in the same way. Neighbouring lanes thus read neighbouring elements of shared memory, in distinct banks.
struct GemmSimtThread {
  GemmSimtSchedule schedule;
  GemmSimtOperand a, b;
  ir::VarId warp{}, lane{};   ///< number of the thread's warp, and number of its lane
  ir::VarId row{}, column{};  ///< the thread's first row and column in the block tile
  ir::BufferId acc{};         ///< accumulators: tm x tn, row-major
  /// Registers for the operands' fragments. For a kept tile, each row (column) has kQuad elements of k in
  /// registers. For any other tile, each row (column) has frag_buffers elements of k.
  ir::BufferId a_fragment{}, b_fragment{};

  std::int64_t height() const { return a.copy.fragment_width(schedule.tm); }
  std::int64_t width() const { return b.copy.fragment_width(schedule.tn); }
};

/// Sets all accumulators to 0.
ir::Block gemm_simt_clear(ir::KernelBuilder& builder, const GemmSimtThread& thread);
/// Adds A tile * B tile to the accumulators. Both tiles are in stage number `stage` of shared memory.
ir::Block gemm_simt_multiply(ir::KernelBuilder& builder, const GemmSimtThread& thread, const ir::Expr& stage);

}  // namespace lehr
