// Vocabulary of the loop-nest AST: ids, scopes, loop kinds.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace lehr::ir {

/// Index into Kernel::vars. All variables are 64-bit signed integers on the CPU and 32-bit on CUDA; templates
/// keep every index within 2^31 elements there.
enum class VarId : std::int32_t {};
/// Index into Kernel::buffers.
enum class BufferId : std::int32_t {};

/// Where a buffer lives.
enum class Scope {
  kGlobal,    ///< a parameter of the kernel (or, on the CPU, memory that the caller owns)
  kScratch,   ///< CPU: per-part memory (packed panels), aligned to 64 bytes, contents undefined at its Alloc
  kShared,    ///< CUDA: shared memory of the block
  kRegister,  ///< private to the thread; every index becomes a constant after unrolling
};
/// Whether caches serve it.
constexpr bool is_cached(Scope scope) {
  return scope == Scope::kGlobal || scope == Scope::kScratch;
}

/// How the iterations of a loop are executed.
enum class LoopKind {
  kSerial,
  kUnrolled,  ///< constant extent; the emitted loop is unrolled completely
  kRolled,    ///< as kSerial, but the compiler may not unroll it: it would need registers that are not there
  /// CPU: outermost only; iteration i is part i. Parts run concurrently in any order, and see what those of
  /// the parallel loops before have written.
  kParallel,
  kBlockX,
  kBlockY,
  kBlockZ,  ///< CUDA grid; constant extent
  kThreadX,
  kThreadY,
  kThreadZ,  ///< CUDA block; constant extent
};
/// One of the three of a CUDA block.
constexpr bool is_thread(LoopKind kind) {
  return kind >= LoopKind::kThreadX;
}

/// One of the three of a CUDA grid.
constexpr bool is_block(LoopKind kind) {
  return kind >= LoopKind::kBlockX && kind <= LoopKind::kBlockZ;
}

/// kCluster: all blocks of the cluster (Kernel::cluster), and so each block, too. kClusterRelaxed: the same
/// for the threads' progress, but no memory is ordered by it: only mbarriers are known behind it whose init a
/// fence precedes.
enum class BarrierScope { kBlock, kWarp, kCluster, kClusterRelaxed };

}  // namespace lehr::ir
