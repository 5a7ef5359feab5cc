// Vocabulary of the loop-nest AST: ids, scopes, loop kinds.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace lehr::ir {

/// Index into Kernel::vars. All variables are 64-bit signed integers on the CPU and 32-bit on CUDA, where
/// templates keep every index within 2^31 elements.
enum class VarId : std::int32_t {};
/// Index into Kernel::buffers.
enum class BufferId : std::int32_t {};

/// Where a buffer lives.
enum class Scope {
  kGlobal,  ///< a parameter of the kernel (on the CPU: memory that the caller owns)
  /// CPU: memory of one work item (e.g. packed panels), aligned to 64 bytes; contents undefined at its Alloc.
  kScratch,
  kShared,    ///< CUDA: shared memory of the block
  kRegister,  ///< private to the thread; every index becomes a constant after unrolling
};
/// Returns whether accesses to the scope go through caches.
constexpr bool is_cached(Scope scope) {
  return scope == Scope::kGlobal || scope == Scope::kScratch;
}

/// How the iterations of a loop are executed.
enum class LoopKind {
  kSerial,
  kUnrolled,  ///< constant extent; the emitted loop is unrolled completely
  kRolled,    ///< as kSerial, but the compiler must not unroll it, because it would need too many registers
  /// CPU, only as the outermost loop: iteration i is work item i. Work items run concurrently in any order,
  /// and see the writes of all earlier parallel loops.
  kParallel,
  kBlockX,
  kBlockY,
  kBlockZ,  ///< CUDA grid; constant extent
  kThreadX,
  kThreadY,
  kThreadZ,  ///< CUDA block; constant extent
};
/// Returns whether the loop is over the threads of a CUDA block.
constexpr bool is_thread(LoopKind kind) {
  return kind >= LoopKind::kThreadX;
}

/// Returns whether the loop is over the blocks of a CUDA grid.
constexpr bool is_block(LoopKind kind) {
  return kind >= LoopKind::kBlockX && kind <= LoopKind::kBlockZ;
}

/// The threads that wait for each other. kCluster: the threads of all blocks of the cluster
/// (Kernel::cluster). kClusterRelaxed: the same threads, but the barrier orders no memory accesses. After it,
/// other blocks' mbarriers may be used if a fence followed their initialisation.
enum class BarrierScope { kBlock, kWarp, kCluster, kClusterRelaxed };

}  // namespace lehr::ir
