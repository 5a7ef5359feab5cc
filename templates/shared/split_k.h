// Blocks that split k. Each leaves its sums in a workspace, and the last block of a tile of C adds them up in
// the order of the parts, whichever block that is. The result does not depend on the order of the blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "ir/kernel.h"

namespace lehr {

/// How the tiles of k are dealt out: part p takes the tiles from p * most() on.
struct SplitK {
  std::int64_t parts = 1;
  std::int64_t tiles = 1;  ///< tiles of k, all parts together

  std::int64_t most() const { return (tiles + parts - 1) / parts; }
  /// Returns the tiles of the last part; not positive if the others leave it no tile.
  std::int64_t least() const { return tiles - (parts - 1) * most(); }
};

/// Returns the numbers of parts that a family offers for this k: 1, and more if each keeps some 256 of it.
std::vector<std::int64_t> split_k_values(std::int64_t k);
/// Returns whether `split` is worth a trial. No part may be empty, and each must have 256 of k (blocks that
/// split k pay where k is long: in TensorRT-LLM's issue 17889 they win from 4096 on). The grid without it
/// (`blocks`) must be small, and the workspace must stay within 32 MiB (the limit that vendor libraries use).
/// `part_bytes` are the sums of one part of a whole C, padding included.
bool may_split_k(const SplitK& split, std::int64_t k, std::int64_t blocks, std::int64_t part_bytes,
                 int cores);
/// Returns as many parts as fill the device's idle multiprocessors; 1 if fewer than half are idle.
std::int64_t default_split_k(std::int64_t k, std::int64_t blocks, int cores);
/// Shared memory of the exchange, in bytes.
inline constexpr std::int64_t kSplitKSharedBytes = 16;

/// The exchange's buffers and sizes.
struct SplitKSums {
  std::int64_t parts = 1;
  std::int64_t tiles = 1;     ///< block tiles of C, of the whole batch
  std::int64_t threads = 0;   ///< threads of a block
  std::int64_t elements = 0;  ///< sums of one thread, in registers
  std::int64_t vec = 1;       ///< sums moved together: 1, 2 or 4, divides `elements`
  /// Parts that share one area of the workspace, to which each adds its sums. The area is zero between
  /// launches. The order of additions is arbitrary, so the result is the same in every launch only for sums
  /// in s32, and for two in f32. 1: each part has an area of its own, and writes there.
  std::int64_t addends = 1;
  /// Number of threads whose sums lie together in an area; divides `threads`. 0: all.
  std::int64_t group = 0;
  /// Kind of the loop over the areas. add_split_k_buffers() makes it kRolled if the sums of all parts
  /// together would take too many registers.
  ir::LoopKind over_parts = ir::LoopKind::kSerial;
  ir::BufferId partials{};  ///< workspace
  ir::BufferId arrived{};   ///< workspace: blocks of each tile that have arrived, zero between launches
  ir::BufferId ticket{};    ///< shared
  ir::BufferId part{};      ///< registers
  std::int64_t places() const { return (parts + addends - 1) / addends; }
};
/// Declares the buffers, for sums of `type`.
void add_split_k_buffers(ir::KernelBuilder& builder, DType type, SplitKSums& sums);
/// Part, tile of C and thread that execute split_k_sum().
struct SplitKPlace {
  ir::Expr part = ir::integer(0);
  ir::Expr tile = ir::integer(0);
  ir::VarId thread{};
};
/// Stores `registers`, the sums of every block, in the workspace. In the last block of the tile, `registers`
/// become the sums of all parts and `then` is executed. All threads of the block take part; `then` has no
/// barrier.
ir::Block split_k_sum(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                      ir::BufferId registers, ir::Block then);

// The same in steps, for blocks in which some threads have no sums. Threads with sums store them, all threads
// of the block execute the second step, and in `last` the threads with sums add them up.

/// Returns the first element of vector `i` of thread number `thread` among the sums of a block.
ir::Expr split_k_vector(const SplitKSums& sums, ir::VarId thread, const ir::Expr& i);
/// Returns the first element, in the part's area of the workspace, of the sums of the `group`-th group of
/// threads: a run of group x elements, like those of the block's sums.
ir::Expr split_k_run(const SplitKSums& sums, const SplitKPlace& place, const ir::Expr& group);
/// Stores the thread's sums in the workspace, in an area of its own.
ir::Block split_k_leave(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                        ir::BufferId registers);
/// Executes `last` in the last block of tile `tile`. For all threads of the block; `first`: whether this
/// thread is the one that counts. `last` has no barrier.
ir::Block split_k_arrive(const SplitKSums& sums, const ir::Expr& tile, const ir::Expr& first, ir::Block last);
/// Sets `registers` to the sums of all parts. Areas that parts share become zero.
ir::Block split_k_total(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                        ir::BufferId registers);

}  // namespace lehr
