// The oracle of ir/analyze: runs a kernel's loops one iteration at a time and counts what is touched. Slow,
// simple, and written without a look at the analysis.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace lehr::testing {

/// One load, store or touch of the kernel's text, in the order of ir::Access.
struct CountedAccess {
  ir::BufferId buffer{};
  bool writes = false;
  bool guarded = false;
  int lanes = 1;
  std::int64_t executions = 0;
  std::int64_t first_index = 0;  ///< every loop at 0
  /// Per enclosing loop, outermost first: index at iteration 1 minus index at 0, the other loops at 0.
  std::vector<std::int64_t> strides;
  /// Per enclosing loop, outermost first: distinct elements while it and the loops inside it run, the outer
  /// ones at 0.
  std::vector<std::int64_t> distinct;
};

struct Counts {
  std::vector<CountedAccess> accesses;
  std::int64_t flops = 0;
  /// Bytes by ir::Scope: global, scratch, shared, register.
  std::array<std::int64_t, 4> read_bytes{};
  std::array<std::int64_t, 4> written_bytes{};
  std::int64_t distinct_global_bytes = 0;
  std::int64_t block_barriers = 0;  ///< of block 0
  std::int64_t integer_divisions = 0;
};

/// Counts what a kernel does. Loops run to their bound, both branches of every If and Select run, and every
/// lane is active: that is how ir::analyze defines its totals. A Load inside an index is 0.
Counts count(const ir::Kernel& kernel);

/// Returns the integer that `expr` is with the variables at `values` (by VarId). Loads are 0. It does not
/// know Lets.
std::int64_t evaluate(const ir::Expr& expr, const std::vector<std::int64_t>& values);

}  // namespace lehr::testing
