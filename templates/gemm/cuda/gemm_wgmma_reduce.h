// How the blocks of gemm_wgmma that split k add up their sums. The knob `reduce` chooses the memory. 0: a
// workspace in which each block has an area; the last block of a tile adds them up (split_k.h). 1: the shared
// memory of a cluster, without workspace or counter; the first block of the cluster adds up the sums. 2: a
// workspace with fewer areas than parts of k, to which the tensor memory accelerator adds the sums. The
// resulting bits are the same in every launch.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/shared/split_k.h"

namespace lehr {

struct GemmWgmmaExchange {
  std::int64_t reduce = 0;
  SplitKSums sums;        ///< with reduce = 1: without workspace and ticket
  ir::BufferId shared{};  ///< with reduce = 1 and 2: the block's sums
};
/// Declares the buffers. `tiles` is the number of tiles of C in the whole batch.
GemmWgmmaExchange gemm_wgmma_exchange(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                                      const GemmWgmmaSchedule& schedule, std::int64_t tiles);
/// Returns the Allocs of the exchange's buffers in shared memory.
ir::Block gemm_wgmma_exchange_allocs(const GemmWgmmaExchange& exchange);

/// Stores the sums of a consumer's thread. `thread` is its number in the block, `consumer` the number of its
/// consumer; `place.thread` counts the threads of all consumers.
ir::Block gemm_wgmma_leave(ir::KernelBuilder& builder, const GemmWgmmaExchange& exchange,
                           const SplitKPlace& place, ir::VarId thread, ir::VarId consumer,
                           ir::BufferId registers);
/// Follows gemm_wgmma_leave(), and is executed by all threads of the block. Executes `write` in the one block
/// that can read the sums of all parts; `write` must begin with gemm_wgmma_total(). `first`: whether the
/// thread is the block's first.
ir::Block gemm_wgmma_meet(const GemmWgmmaExchange& exchange, const SplitKPlace& place, const ir::Expr& first,
                          ir::Block write);
/// Sets `registers` of a consumer's thread to the sums of all parts.
ir::Block gemm_wgmma_total(ir::KernelBuilder& builder, const GemmWgmmaExchange& exchange,
                           const SplitKPlace& place, ir::BufferId registers);

}  // namespace lehr
