// The blocks of a cluster that split k: each leaves its sums in its shared memory, and the first block adds
// them up from there, in the order of the parts. No workspace, no counter, and the same bits in every launch.
#pragma once

#include "ir/kernel.h"

namespace lehr {

/// The exchange's buffers, and who takes part.
struct GemmWgmmaReduce {
  std::int64_t parts = 1;     ///< blocks of the cluster
  std::int64_t threads = 0;   ///< of a block that have sums
  std::int64_t elements = 0;  ///< sums of one thread, in registers; a multiple of 4
  ir::BufferId shared{};      ///< elements x threads
  ir::BufferId part{};        ///< registers: 4
};
/// Declares the buffers, for sums of `type`.
void add_gemm_wgmma_reduce(ir::KernelBuilder& builder, DType type, GemmWgmmaReduce& reduce);

/// Leaves the `worker`-th thread's sums; to be followed by a cluster barrier.
ir::Block gemm_wgmma_leave(ir::KernelBuilder& builder, const GemmWgmmaReduce& reduce, ir::VarId worker,
                           ir::BufferId registers);
/// `registers` = the sums of all parts, in block 0; to be followed by a cluster barrier, so that the others
/// are still there.
ir::Block gemm_wgmma_total(ir::KernelBuilder& builder, const GemmWgmmaReduce& reduce, ir::VarId worker,
                           ir::BufferId registers);

}  // namespace lehr
