// Blocks that split k. Each block stores its sums to a workspace. The last block that arrives at a tile of C
// adds up the sums of all parts, always in the order of the parts. The result does not depend on the order in
// which the blocks run.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "ir/kernel.h"

namespace lehr {

/// How the tiles along k are distributed: part p takes the tiles from p * most() on.
struct SplitK {
  std::int64_t parts = 1;
  std::int64_t tiles = 1;  ///< number of tiles in all parts together

  std::int64_t most() const { return (tiles + parts - 1) / parts; }
  /// Returns the number of tiles in the last part; not positive if the other parts leave no tile.
  std::int64_t least() const { return tiles - (parts - 1) * most(); }
};

/// Returns the possible numbers of parts for this k: 1, and larger ones with which each part has at least 256
/// of k.
std::vector<std::int64_t> split_k_values(std::int64_t k);
/// Returns whether `split` is worth a trial. No part may be empty, and each must have 256 of k (splitting k
/// pays only if k is long: in TensorRT-LLM's issue 17889 from 4096 on). `blocks`, the grid without the split,
/// must be small. The workspace must not exceed 32 MiB (the limit that vendor libraries use); `part_bytes` is
/// the size of one part's sums for the whole C, padding included.
bool may_split_k(const SplitK& split, std::int64_t k, std::int64_t blocks, std::int64_t part_bytes,
                 int cores);
/// Returns the number of parts that fills the device's idle multiprocessors; 1 if fewer than half are idle.
std::int64_t default_split_k(std::int64_t k, std::int64_t blocks, int cores);
/// Bytes of shared memory that the exchange of sums needs.
inline constexpr std::int64_t kSplitKSharedBytes = 16;

/// Buffers and sizes for the exchange of sums between the blocks.
struct SplitKSums {
  std::int64_t parts = 1;
  std::int64_t tiles = 1;     ///< number of block tiles of C in the whole batch
  std::int64_t threads = 0;   ///< number of threads of a block
  std::int64_t elements = 0;  ///< number of sums of one thread, in registers
  std::int64_t vec = 1;       ///< number of sums moved together: 1, 2 or 4; divides `elements`
  /// Number of parts that share an area of the workspace, to which each of them adds its sums. 1: each part
  /// has its own area and stores its sums there. A shared area is zero between launches. The order of the
  /// additions is arbitrary. The result is therefore the same in every launch only for sums in s32, and for
  /// two addends in f32.
  std::int64_t addends = 1;
  /// Number of threads whose sums lie together in an area; divides `threads`. 0: all threads of the block.
  std::int64_t group = 0;
  /// Kind of the loop over the areas. add_split_k_buffers() sets it to kRolled if the sums of all parts
  /// together would need too many registers.
  ir::LoopKind over_parts = ir::LoopKind::kSerial;
  ir::BufferId partials{};  ///< workspace: the areas of sums
  /// Workspace: for each tile, the number of blocks that have arrived; zero between launches.
  ir::BufferId arrived{};
  ir::BufferId ticket{};  ///< shared: the number of blocks that arrived before this block
  ir::BufferId part{};    ///< registers: `vec` sums of another part
  std::int64_t places() const { return (parts + addends - 1) / addends; }
};
/// Declares the buffers in `sums`. `type` is the type of the sums.
void add_split_k_buffers(ir::KernelBuilder& builder, DType type, SplitKSums& sums);
/// The part of k, the tile of C and the thread that execute the statements below.
struct SplitKPlace {
  ir::Expr part = ir::integer(0);
  ir::Expr tile = ir::integer(0);
  ir::VarId thread{};
};
/// Stores `registers`, the sums of each block, to the workspace. In the last block of the tile, sets
/// `registers` to the sums over all parts and then executes `then`. Must be executed by all threads of the
/// block; `then` must not contain a barrier.
ir::Block split_k_sum(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                      ir::BufferId registers, ir::Block then);

// The steps of split_k_sum() as functions of their own, for blocks in which some threads have no sums.
// Threads with sums execute split_k_leave(). Then all threads of the block execute split_k_arrive(), and in
// its `last` the threads with sums execute split_k_total().

/// Returns where the sums of a block have the first element of vector `i` of thread `thread`.
ir::Expr split_k_vector(const SplitKSums& sums, ir::VarId thread, const ir::Expr& i);
/// Returns where the sums of the `group`-th group of threads begin in the workspace, in the area of this
/// part. The sums of a group are contiguous there, as they are in the order of split_k_vector().
ir::Expr split_k_run(const SplitKSums& sums, const SplitKPlace& place, const ir::Expr& group);
/// Stores the thread's sums to the part's own area of the workspace (addends == 1).
ir::Block split_k_leave(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                        ir::BufferId registers);
/// Counts the block as arrived at tile `tile`, and executes `last` in the block that arrives last. Must be
/// executed by all threads of the block. `first` is true for the one thread that counts the block. `last`
/// must not contain a barrier.
ir::Block split_k_arrive(const SplitKSums& sums, const ir::Expr& tile, const ir::Expr& first, ir::Block last);
/// Sets `registers` to the sums over all parts. Resets the workspace's areas to zero if parts share them.
ir::Block split_k_total(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                        ir::BufferId registers);

}  // namespace lehr
