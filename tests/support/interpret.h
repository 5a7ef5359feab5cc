// The reference for ir/analyze: runs a kernel's loops one iteration at a time and counts the accesses. Slow
// and simple, and written independently of the analysis.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace lehr::testing {

/// One load, store or touch in the kernel's text, in the order of ir::Access.
struct CountedAccess {
  ir::BufferId buffer{};
  bool writes = false;
  bool guarded = false;
  int lanes = 1;
  std::int64_t executions = 0;
  std::int64_t first_index = 0;  ///< index with all loops at 0
  /// For each enclosing loop, outermost first: the index at iteration 1 minus the index at iteration 0, with
  /// all other loops at 0.
  std::vector<std::int64_t> strides;
  /// For each enclosing loop, outermost first: the number of distinct elements while it and the loops inside
  /// it run, with the outer loops at 0.
  std::vector<std::int64_t> distinct;
};

struct Counts {
  std::vector<CountedAccess> accesses;
  std::int64_t flops = 0;
  /// Bytes by ir::Scope: global, scratch, shared, register.
  std::array<std::int64_t, 4> read_bytes{};
  std::array<std::int64_t, 4> written_bytes{};
  std::int64_t distinct_global_bytes = 0;
  std::int64_t block_barriers = 0;  ///< barriers of block 0
  std::int64_t integer_divisions = 0;
};

/// Counts the operations and accesses of a kernel. Loops run to their bound, both branches of every If and
/// Select run, and every lane is active: that is how ir::analyze defines its totals. A Load inside an index
/// is 0.
Counts count(const ir::Kernel& kernel);

/// Returns the integer value of `expr`, given the variables' `values` (by VarId). Loads are 0. Lets are not
/// supported.
std::int64_t evaluate(const ir::Expr& expr, const std::vector<std::int64_t>& values);

}  // namespace lehr::testing
