// Blocks that split k: several blocks compute the same tile of C, and each multiplies its own part of k. Each
// block stores its sums to a workspace. The block that finishes last adds up the sums of all parts, always in
// the order of the parts. The result does not depend on the order in which the blocks run.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "ir/kernel.h"

namespace lehr {

/// How the tiles along k are distributed: part p takes at most most() tiles, beginning with tile p * most().
struct SplitK {
  std::int64_t parts = 1;
  std::int64_t tiles = 1;  ///< number of tiles in all parts together

  std::int64_t most() const { return (tiles + parts - 1) / parts; }
  /// Returns the number of tiles in the last part; not positive if the other parts leave no tile.
  std::int64_t least() const { return tiles - (parts - 1) * most(); }
};

/// Returns the numbers of parts that may be tried for this k: 1, and larger numbers for which each part still
/// has at least 256 elements of k.
std::vector<std::int64_t> split_k_values(std::int64_t k);
/// Returns whether `split` is worth a trial. One part always is. With several parts, no part may be empty,
/// and k must have at least 256 elements per part (splitting pays only for a long k: in TensorRT-LLM's issue
/// 17889 from 4096 on). The grid without the split, which has `blocks` blocks, must have at most two blocks
/// per multiprocessor; `cores` is the number of multiprocessors. The workspace must not exceed 32 MiB (the
/// limit that vendor libraries use). `part_bytes` is the size of one part's sums for the whole C, padding
/// included.
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
/// Identifies a thread that executes the statements below: `part` is the index of its part of k, `tile` the
/// index of its tile of C in the batch, and `thread` its index in the block.
struct SplitKPlace {
  ir::Expr part = ir::integer(0);
  ir::Expr tile = ir::integer(0);
  ir::VarId thread{};
};
/// Stores the thread's sums, which are in `registers`, to the workspace. In the block that arrives last at
/// its tile of C, sets `registers` to the sums over all parts and then executes `then`. Must be executed by
/// all threads of the block; `then` must not contain a barrier.
ir::Block split_k_sum(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                      ir::BufferId registers, ir::Block then);

// The steps of split_k_sum() as separate functions, for blocks in which some threads have no sums. First, the
// threads with sums execute split_k_leave(). Then all threads of the block execute split_k_arrive(). Its
// argument `last` contains split_k_total(), which again only the threads with sums execute.

/// Returns the index of the first element of a thread's vector number `i`, relative to the first of the
/// block's sums in an area of the workspace.
ir::Expr split_k_vector(const SplitKSums& sums, ir::VarId thread, const ir::Expr& i);
/// Returns the index in the workspace of the first sum of thread group number `group`, in the area of the
/// part `place.part`. The sums of a group are contiguous in the workspace, in the order of split_k_vector().
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
