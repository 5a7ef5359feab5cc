// Facts that are in the text of a kernel but not in its analysis: code size, integer division, vector width
// of the arithmetic, asynchronous copies, how often branches are taken, where a warp's addresses fall. One
// walk over the AST. Internal to costmodel/.
#pragma once

#include <memory_resource>
#include <optional>
#include <vector>

#include "ir/analyze.h"
#include "ir/intrinsics.h"
#include "ir/kernel.h"

namespace lehr {

/// Where the addresses of warps fall, over all of a CUDA kernel's accesses. Means are weighted by bytes.
struct WarpFacts {
  /// Global loads: sectors per warp / the fewest that could hold the bytes; 0: no loads.
  double load_ratio = 0;
  /// The same for global stores.
  double store_ratio = 0;
  double worst_ratio = 1;
  /// Bytes of the sectors of all global accesses, whole kernel.
  double sector_bytes = 0;
  /// Shared loads: mean bank conflict degree; 0: no loads.
  double read_conflict = 0;
  /// The same for shared stores.
  double write_conflict = 0;
  double worst_conflict = 1;
  /// Cycles of shared memory, conflicts included, summed over the SMs.
  double shared_cycles = 0;
};

/// How often one access is executed.
struct ExecutedAccess {
  double share = 1;  ///< executions / executions as the analysis counts them
  int branch = 0;    ///< which side of which If is the innermost around it; 0: it is under no If
};

/// "Executed" counts a branch as often as a sample of the iterations takes it. The analysis counts both
/// sides. A loop whose extent varies counts with the sample's mean extent; the analysis takes its bound.
struct TextFacts {
  /// The vectors lie in `memory`.
  explicit TextFacts(std::pmr::memory_resource* memory)
      : block_starts(memory), hints(memory), accesses(memory) {}

  /// Statements in the text, unrolled loops expanded: code size.
  double statements = 0;
  /// Executed integer Div and Mod, except by powers of two and where unrolling makes them constant.
  double divisions = 0;
  /// Executed Fma nodes and float operations: instructions, not flops.
  double arithmetic = 0;
  /// The same times their lanes. Products of narrower types count in lanes of 32 bits.
  double arithmetic_lanes = 0;
  /// Most products that such a lane adds up at a time: 1 of f32, 2 of bf16, 4 of bytes.
  double products_per_lane = 1;
  /// Executed flops of intrinsics (tensor cores).
  double intrinsic_flops = 0;
  /// The unit of the intrinsics that multiply matrices.
  std::optional<ir::MatrixUnit> matrix_unit;
  /// Executed flops / flops as the analysis counts them, in (0, 1].
  double flops_share = 1;
  /// Executed accesses outside registers, kept in registers over unrolled loops.
  double memory_instructions = 0;
  /// Executed "prefetch" intrinsics.
  double prefetches = 0;
  /// Bytes written by "cp_async..." intrinsics.
  double async_bytes = 0;
  /// 1 + the largest argument of cp_async_wait; 0 without one.
  double pipeline_depth = 0;
  /// How often a barrier expects a stage's bytes, all blocks together: the steps of their rings of stages.
  double stage_turns = 0;
  /// How often a thread waits for all of its asynchronous products, once per block.
  double product_waits = 0;
  /// Bytes that "tma_store..." and "tma_reduce..." write.
  double accelerator_written = 0;
  /// Mean iterations of loops whose extent depends on the block / those of the block that has the most.
  double balance = 1;
  /// Most bytes of kRegister buffers alive at one time.
  double register_bytes = 0;
  /// Most registers that a setmaxnreg gives a thread; 0 without one.
  double granted_registers = 0;
  /// Most elements between the read of a prefetched buffer and the prefetched element.
  double prefetch_distance = 0;
  /// By BufferId: distinct positions at which the first 32 blocks begin to read it; 0: it is not read, or
  /// this is not a CUDA kernel. If there are few for both operands, they are shared in L2.
  std::pmr::vector<int> block_starts;
  /// By BufferId: the hint that the L2 gets for it (ir/intrinsics.cpp, "tma_load_2d").
  std::pmr::vector<int> hints;
  WarpFacts warp;
  /// One for each of Analysis::accesses, in its order.
  std::pmr::vector<ExecutedAccess> accesses;
};

/// Walks `kernel`, whose analysis is `analysis`. The walk's memory and the facts are in `memory`.
TextFacts walk_text(const ir::Kernel& kernel, const ir::Analysis& analysis,
                    std::pmr::memory_resource* memory);

}  // namespace lehr
