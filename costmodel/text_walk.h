// Facts that the text of a kernel contains but its analysis does not: code size, integer divisions, vector
// width of the arithmetic, asynchronous copies, how often branches are taken, where the addresses of a warp
// fall. Computed in one walk over the AST. Internal to costmodel/.
#pragma once

#include <memory_resource>
#include <optional>
#include <vector>

#include "ir/analyze.h"
#include "ir/intrinsics.h"
#include "ir/kernel.h"

namespace lehr {

/// Where the addresses of warps fall, over all accesses of a CUDA kernel. Means are weighted by bytes.
struct WarpFacts {
  /// For global loads: sectors per warp / minimum number of sectors that could hold the bytes; 0: no loads.
  double load_ratio = 0;
  /// For global stores: the same ratio.
  double store_ratio = 0;
  double worst_ratio = 1;
  /// Bytes of the sectors of all global accesses of the whole kernel.
  double sector_bytes = 0;
  /// For shared loads: mean degree of bank conflicts; 0: no loads.
  double read_conflict = 0;
  /// For shared stores: the same mean.
  double write_conflict = 0;
  double worst_conflict = 1;
  /// Cycles of shared memory, conflicts included, summed over the SMs.
  double shared_cycles = 0;
};

/// How often one access is executed.
struct ExecutedAccess {
  double share = 1;  ///< actual executions / executions as the analysis counts them
  int branch = 0;    ///< the side of the innermost If around the access; 0: it is under no If
};

/// Facts about the text. "Executed" counts a branch as often as a sample of the iterations takes it, while
/// the analysis counts both sides. A loop whose extent varies counts with the sample's mean extent, while the
/// analysis uses its bound.
struct TextFacts {
  /// The vectors are allocated from `memory`.
  explicit TextFacts(std::pmr::memory_resource* memory)
      : block_starts(memory), hints(memory), accesses(memory) {}

  /// Number of statements in the text, with unrolled loops expanded: the code size.
  double statements = 0;
  /// Executed integer Div and Mod, except by powers of two, and except those that unrolling makes constant.
  double divisions = 0;
  /// Executed Fma nodes and float operations. Counts instructions, not flops.
  double arithmetic = 0;
  /// Lanes of the executed Fma nodes and float operations. Products of narrower types count in lanes of 32
  /// bits.
  double arithmetic_lanes = 0;
  /// Maximum number of products that a 32-bit lane adds up at a time: 1 for f32, 2 for bf16, 4 for bytes.
  double products_per_lane = 1;
  /// Executed flops of intrinsics (tensor cores).
  double intrinsic_flops = 0;
  /// The unit of the intrinsics that multiply matrices, if there are any.
  std::optional<ir::MatrixUnit> matrix_unit;
  /// Executed flops / flops as the analysis counts them, in (0, 1].
  double flops_share = 1;
  /// Executed accesses outside of registers. Repeated ones in unrolled loops that the compiler keeps in
  /// registers count once.
  double memory_instructions = 0;
  /// Executed "prefetch" intrinsics.
  double prefetches = 0;
  /// Bytes written by "cp_async..." intrinsics.
  double async_bytes = 0;
  /// 1 + the largest argument of cp_async_wait; 0 without one.
  double pipeline_depth = 0;
  /// How often a barrier is told to expect the bytes of a stage, in all blocks together. That is the number
  /// of steps of their rings of stages.
  double stage_turns = 0;
  /// How often a thread waits for all of its asynchronous products, counted once per block.
  double product_waits = 0;
  /// Bytes that "tma_store..." and "tma_reduce..." write.
  double accelerator_written = 0;
  /// For loops whose extent depends on the block: mean iterations / iterations in the block with the most.
  double balance = 1;
  /// Maximum number of bytes of kRegister buffers that are alive at the same time.
  double register_bytes = 0;
  /// Maximum number of registers that a setmaxnreg gives a thread; 0 if there is no setmaxnreg.
  double granted_registers = 0;
  /// Maximum number of elements between the read of a prefetched buffer and the prefetched element.
  double prefetch_distance = 0;
  /// By BufferId: number of distinct positions at which the first 32 blocks begin to read the buffer. 0: the
  /// buffer is not read, or the kernel is not for CUDA. If the number is small for both operands, blocks
  /// share them in L2.
  std::pmr::vector<int> block_starts;
  /// By BufferId: the hint to the L2 with which the buffer is loaded (ir/intrinsics.cpp, "tma_load_2d").
  std::pmr::vector<int> hints;
  WarpFacts warp;
  /// One element for each of Analysis::accesses, in the same order.
  std::pmr::vector<ExecutedAccess> accesses;
};

/// Walks `kernel`, whose analysis is `analysis`. Allocates everything from `memory`.
TextFacts walk_text(const ir::Kernel& kernel, const ir::Analysis& analysis,
                    std::pmr::memory_resource* memory);

}  // namespace lehr
