// What a kernel does, read off its AST in one walk: loops, accesses, strides, footprints, flops and bytes per level.
// The features (costmodel/) are computed from this and from nothing else. Must cost microseconds: it runs on every
// candidate that the search considers.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace lehr::ir {

/// One For of the kernel, in pre-order.
struct LoopInfo {
  VarId var{};
  std::int64_t extent = 0;  ///< the bound
  LoopKind kind = LoopKind::kSerial;
  int depth = 0;    ///< 0 = outermost
  int parent = -1;  ///< index into Analysis::loops, -1 at the top
  double iterations = 0;  ///< total executions of the body: product of the extents from the root to here
  double flops = 0;       ///< flops of everything inside, per execution of the whole loop nest (all iterations)
};

/// One load, store or touch in the text of the kernel, in pre-order.
struct Access {
  BufferId buffer{};
  bool writes = false;
  int lanes = 1;                       ///< elements per execution (a touch's `elements`)
  int loop = -1;                       ///< innermost enclosing loop, -1 at the top
  double executions = 0;               ///< product of the extents of the enclosing loops
  bool guarded = false;                ///< under an If, a Select or an `active` count
  /// Per enclosing loop from the outermost in: change of the flat index from iteration 0 to 1, other loops at 0, in elements
  std::vector<std::int64_t> strides;
  /// Per enclosing loop from the outermost in: distinct elements touched by one full execution of that loop's iterations,
  /// estimated from strides and extents and never above the buffer's size or the executions times lanes.
  std::vector<double> footprint;
};

/// Per scope and direction, over the whole kernel (all threads, blocks and tasks).
struct Traffic {
  double read_bytes = 0;
  double written_bytes = 0;
};

struct Analysis {
  std::vector<LoopInfo> loops;
  std::vector<Access> accesses;
  double flops = 0;  ///< floating-point operations of the whole kernel, at loop bounds (tails counted as full)
  Traffic global, scratch, shared, registers;  ///< bytes as executed, not distinct
  double unique_global_bytes = 0;  ///< distinct bytes of all parameters that are touched
  double barriers = 0;             ///< executed by one block
  std::int64_t register_bytes = 0; ///< all kRegister buffers of one thread
  std::int64_t shared_bytes = 0;
  std::int64_t scratch_bytes = 0;
  Launch launch;
};

Analysis analyze(const Kernel& kernel);

}  // namespace lehr::ir
