// Blocks that split k: each leaves its sums in a workspace, and the block of a tile of C that comes last adds
// them up in the order of the parts, whoever that is. The result does not depend on the order of the blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "ir/kernel.h"

namespace lehr {

/// How the tiles of k are dealt out: part p takes the tiles from p * most() on.
struct SplitK {
  std::int64_t parts = 1;
  std::int64_t tiles = 1;  ///< of k, all parts together

  std::int64_t most() const { return (tiles + parts - 1) / parts; }
  /// Tiles of the last part; not positive where the others leave it none.
  std::int64_t least() const { return tiles - (parts - 1) * most(); }
};

/// Parts that a family offers for this k: 1, and more where each keeps some 256 of it.
std::vector<std::int64_t> split_k_values(std::int64_t k);
/// Whether `split` is worth a trial: no part is empty, each has 256 of k (blocks that
/// split k pay where k is long: TensorRT-LLM's issue 17889 has them win from 4096 on), the grid without it
/// (`blocks`) is small, and the workspace stays within 32 MiB (what vendor libraries take). `part_bytes`: the
/// sums of one part of a whole C, padding included.
bool may_split_k(const SplitK& split, std::int64_t k, std::int64_t blocks, std::int64_t part_bytes,
                 int cores);
/// As many parts as fill the device's idle multiprocessors; 1 where fewer than half are idle.
std::int64_t default_split_k(std::int64_t k, std::int64_t blocks, int cores);
/// What the exchange needs of shared memory, in bytes.
inline constexpr std::int64_t kSplitKSharedBytes = 16;

/// The exchange's buffers, and who takes part.
struct SplitKSums {
  std::int64_t parts = 1;
  std::int64_t tiles = 1;     ///< block tiles of C, of the whole batch
  std::int64_t threads = 0;   ///< of a block
  std::int64_t elements = 0;  ///< sums of one thread, in registers
  std::int64_t vec = 1;       ///< of these, moved together: 1, 2 or 4, divides `elements`
  /// Parts that have one place of the workspace in common, to which each adds its sums: the place is zero
  /// between launches. Added up in whatever order they come, so the result is the same in every launch for
  /// sums in s32, and in f32 for two. 1: each part has a place of its own, and writes there.
  std::int64_t addends = 1;
  std::int64_t group = 0;  ///< so many threads' sums lie together in a place, divides `threads`; 0: all
  /// Of the sum over the places: add_split_k_buffers() has it kRolled where the sums of all parts together
  /// would take too many registers.
  ir::LoopKind over_parts = ir::LoopKind::kSerial;
  ir::BufferId partials{};  ///< workspace
  ir::BufferId arrived{};   ///< workspace: blocks of each tile that have come, zero between launches
  ir::BufferId ticket{};    ///< shared
  ir::BufferId part{};      ///< registers
  std::int64_t places() const { return (parts + addends - 1) / addends; }
};
/// Declares the buffers, for sums of `type`.
void add_split_k_buffers(ir::KernelBuilder& builder, DType type, SplitKSums& sums);
/// The number of a part and of a tile of C, and the thread, of those who execute split_k_sum().
struct SplitKPlace {
  ir::Expr part = ir::integer(0);
  ir::Expr tile = ir::integer(0);
  ir::VarId thread{};
};
/// Leaves `sums` (registers) of every block in the workspace; where the last block of the tile has come,
/// `registers` become the sums of all parts and `then` is executed. All threads of the block take part; no
/// barrier in `then`.
ir::Block split_k_sum(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                      ir::BufferId registers, ir::Block then);

// The same in steps, for blocks of which some threads have no sums: those that have leave them, all threads
// of the block come to the second step, and in `last` those that had sums add up.

/// First element of vector `i` of thread number `thread` among the sums of a block.
ir::Expr split_k_vector(const SplitKSums& sums, ir::VarId thread, const ir::Expr& i);
/// First element, in the part's place of the workspace, of what the `group`-th group of threads has there: a
/// run of group x elements, like those of the block's sums.
ir::Expr split_k_run(const SplitKSums& sums, const SplitKPlace& place, const ir::Expr& group);
/// Leaves the thread's sums in the workspace, in a place of its own.
ir::Block split_k_leave(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                        ir::BufferId registers);
/// `last` in the block of tile `tile` that comes last. All threads of the block; `first`: whether this is the
/// one that counts. No barrier in `last`.
ir::Block split_k_arrive(const SplitKSums& sums, const ir::Expr& tile, const ir::Expr& first, ir::Block last);
/// `registers` = the sums of all parts. Places that parts have in common become zero.
ir::Block split_k_total(ir::KernelBuilder& builder, const SplitKSums& sums, const SplitKPlace& place,
                        ir::BufferId registers);

}  // namespace lehr
