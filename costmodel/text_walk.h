// What only the text of a kernel tells and the analysis does not: code size, integer division, vector width
// of the arithmetic, asynchronous copies, swizzled shared memory. One walk over the AST. Internal to
// costmodel/.
#pragma once

#include <vector>

#include "ir/analyze.h"
#include "ir/kernel.h"

namespace lehr {

struct TextFacts {
  double statements = 0;        ///< in the text, unrolled loops expanded: code size
  double divisions = 0;         ///< executed integer Div and Mod
  double arithmetic = 0;        ///< executed Fma nodes and float operations: instructions, not flops
  double arithmetic_lanes = 0;  ///< the same times their lanes
  double intrinsic_flops = 0;   ///< flops of intrinsics (tensor cores)
  double prefetches = 0;        ///< executed "prefetch" intrinsics
  double async_bytes = 0;       ///< bytes written by "cp_async..." intrinsics
  double async_waits = 0;       ///< cp_async_wait statements in the text
  double pipeline_depth = 0;    ///< 1 + the largest argument of cp_async_wait; 0 without one
  /// Per buffer: the bank conflict degree of the worst swizzled (XOR) index into it; 0 where no index has an
  /// XOR, so that the strides of the analysis tell.
  std::vector<double> swizzled_conflicts;
};

TextFacts walk_text(const ir::Kernel& kernel, const ir::Launch& launch);

/// Bank conflict degree of one warp's access: how many times more cycles than without conflicts, at least 1.
/// `word_of_thread` are the 32 threads' first 4-byte words, `words` the consecutive words of each (1 to 4).
/// Shared memory has 32 banks of 4 bytes; 8- and 16-byte accesses are served per half and quarter warp;
/// threads of one phase that read the same word share it (CUDA C++ Programming Guide, Compute Capability 5.x
/// and later).
double bank_conflict_degree(const std::int64_t (&word_of_thread)[32], int words);

}  // namespace lehr
