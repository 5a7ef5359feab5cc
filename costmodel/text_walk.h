// What only the text of a kernel tells and the analysis does not: code size, integer division, vector width
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

/// How warps' accesses fall, over all of a CUDA kernel's accesses. Means are weighted by bytes.
struct WarpFacts {
  double load_ratio =
      0;  ///< global loads: sectors per warp / the fewest that could hold the bytes; 0: no loads
  double store_ratio = 0;  ///< the same of global stores
  double worst_ratio = 1;
  double sector_bytes = 0;    ///< of all global accesses, whole kernel
  double read_conflict = 0;   ///< shared loads: mean bank conflict degree; 0: no loads
  double write_conflict = 0;  ///< the same of shared stores
  double worst_conflict = 1;
  double shared_cycles = 0;  ///< of shared memory, conflicts included, summed over the SMs
};

/// How often one access is executed.
struct ExecutedAccess {
  double share = 1;  ///< executions / those that the analysis counts
  int branch = 0;    ///< which side of which If is the innermost around it; 0: none
};

/// "Executed" counts a branch as often as a sample of the iterations takes it, and a loop whose extent varies
/// with the sample's mean extent, where the analysis counts both sides and the bound.
struct TextFacts {
  /// `memory` is what the vectors lie in.
  explicit TextFacts(std::pmr::memory_resource* memory)
      : block_starts(memory), hints(memory), accesses(memory) {}

  double statements = 0;  ///< in the text, unrolled loops expanded: code size
  double divisions =
      0;  ///< executed integer Div and Mod, but for powers of two and what unrolling makes constant
  double arithmetic = 0;        ///< executed Fma nodes and float operations: instructions, not flops
  double arithmetic_lanes = 0;  ///< the same times their lanes
  double intrinsic_flops = 0;   ///< executed flops of intrinsics (tensor cores)
  std::optional<ir::MatrixUnit> matrix_unit;  ///< that multiplies matrices
  double flops_share = 1;       ///< executed flops / flops as the analysis counts them, in (0, 1]
  double memory_instructions =
      0;                      ///< executed accesses outside registers, kept in registers over unrolled loops
  double prefetches = 0;      ///< executed "prefetch" intrinsics
  double async_bytes = 0;     ///< bytes written by "cp_async..." intrinsics
  double pipeline_depth = 0;  ///< 1 + the largest argument of cp_async_wait; 0 without one
  /// How often a barrier is told of a stage's bytes, all blocks together: the steps of their rings of stages.
  double stage_turns = 0;
  /// How often a thread waits until none of its asynchronous products runs any more, once per block.
  double product_waits = 0;
  double accelerator_written = 0;  ///< bytes that "tma_store..." and "tma_reduce..." write
  /// Iterations of loops whose extent depends on the block, in the mean / in the block that has the most.
  double balance = 1;
  double register_bytes = 0;     ///< most bytes of kRegister buffers alive at one time
  double granted_registers = 0;  ///< most that a setmaxnreg gives a thread; 0 without one
  double prefetch_distance = 0;  ///< most elements from where a prefetched buffer is read to what is fetched
  /// By BufferId: distinct places among the first 32 blocks where they begin to read it; 0: nobody does, or
  /// no CUDA kernel. What is few for both operands is shared in L2.
  std::pmr::vector<int> block_starts;
  std::pmr::vector<int> hints;  ///< by BufferId: what the L2 is told of it (ir/intrinsics.cpp, "tma_load_2d")
  WarpFacts warp;
  std::pmr::vector<ExecutedAccess> accesses;  ///< in the order of Analysis::accesses
};

/// `analysis` must be that of `kernel`; what the walk needs and the facts lie in `memory`.
TextFacts walk_text(const ir::Kernel& kernel, const ir::Analysis& analysis,
                    std::pmr::memory_resource* memory);

}  // namespace lehr
