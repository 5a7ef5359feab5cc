// Facts about a kernel, read off its AST in one walk: loops, accesses, strides, footprints, flops and bytes
// per level. The features (costmodel/) are computed from this and from nothing else. Must take microseconds:
// it runs on every candidate that the search considers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace lehr::ir {

/// Maximum depth of loop nests that analysis accepts (grid 3 + block 3 + 18 loops). A template that nests
/// deeper is a mistake.
inline constexpr int kMaxLoopDepth = 24;

/// One value per enclosing loop, outermost first. The values are stored inside the object: a kernel has some
/// fifty of these, and an allocation would cost as much as filling them.
template <typename T>
class PerLoop {
 public:
  PerLoop() {}  // not `= default`, which would initialise the values
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Resizes; new values are undefined. The size is not checked: analyze() rejects nests deeper than
  /// kMaxLoopDepth.
  void resize(std::size_t size) { size_ = size; }
  void clear() { size_ = 0; }
  void push_back(const T& value) { values_[size_++] = value; }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + size_; }
  friend bool operator==(const PerLoop& x, const std::vector<T>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

 private:
  std::size_t size_ = 0;  // before the array, near the values that are used
  std::array<T, kMaxLoopDepth> values_;
};

/// One For of the kernel, in pre-order.
struct LoopInfo {
  VarId var{};
  std::int64_t extent = 0;  ///< upper bound of the extent (For::bound)
  LoopKind kind = LoopKind::kSerial;
  int depth = 0;          ///< 0 = outermost
  int parent = -1;        ///< index into Analysis::loops, -1 at the top
  double iterations = 0;  ///< total executions of the body: product of the extents from the root to here
  /// Flops of everything inside, for one execution of the whole loop nest (all iterations).
  double flops = 0;
};

/// One load, store or touch in the text of the kernel, in pre-order: a store precedes the loads of its value,
/// and an access precedes the loads inside its index. Loads in a Let, an If's condition or a loop's extent
/// are included.
struct Access {
  // Not `= default`, which would initialise the arrays.
  Access() {}
  BufferId buffer{};
  bool writes = false;
  /// Elements per execution (a touch's `elements`).
  int lanes = 1;
  /// Innermost enclosing loop, -1 at the top.
  int loop = -1;
  /// Product of the extents of the enclosing loops. Under an If with stated `threads`, only those threads
  /// count.
  double executions = 0;
  /// Whether the access may be skipped or partial, though it is counted as if it were always executed in
  /// full. That is so under an If without stated threads, under a Select by one condition, with an `active`
  /// count, for a partial touch, and for the source of a cp_async whose byte count is not a constant.
  bool guarded = false;
  /// Whether it is a touch of a cp_async_* or tma_* intrinsic.
  bool asynchronous = false;
  /// Whether there are loads inside its index.
  bool gathers = false;
  /// Number of Div and Mod in its index, except by constant powers of two. Lets are not expanded.
  int divisions = 0;
  /// The enclosing loops that its index depends on, one bit per depth.
  std::uint32_t moves_with = 0;
  /// Flat index at iteration 0 of every loop, in elements.
  std::int64_t offset = 0;
  /// Change of the flat index from iteration 0 to 1 of each enclosing loop, in elements, with all other loops
  /// at iteration 0. Outermost loop first.
  PerLoop<std::int64_t> strides;
  /// Distinct elements touched by one full execution of each enclosing loop, outermost loop first. An
  /// estimate from strides and extents, at most the buffer's size and at most executions x lanes.
  /// The set of indices is treated as a sum of arithmetic progressions: one per loop (its extent is the
  /// number of values, its stride the step), one per loop and non-affine term (Div, Mod, ...), and one for
  /// the lanes. Two progressions merge into one if one step divides the other and the result has no gap. The
  /// estimate is the product of the lengths of the remaining progressions, capped by the range of indices
  /// that they span. It is exact for tiles, convolution windows and their packed copies. Empty if the buffer
  /// is in memory that no cache serves.
  PerLoop<double> footprint;
};

/// Bytes per scope and direction, over the whole kernel (all threads, blocks and work items).
struct Traffic {
  double read_bytes = 0;
  double written_bytes = 0;
};

struct Analysis {
  std::vector<LoopInfo> loops;
  std::vector<Access> accesses;
  /// For each VarId, the enclosing loops that a Let depends on, one bit per depth; 0 for a loop's variable.
  std::vector<std::uint32_t> let_moves_with;
  /// Arithmetic on data in the whole kernel, with every loop at its bound (tails count as full tiles). An Fma
  /// counts 2 x lanes, a Reduce lanes - 1, an Intrinsic its own flops. An add, sub, mul, div, min or max
  /// counts its lanes if a Load or Float is among its operands (including integer data such as that of s8
  /// GEMMs). Both branches of an If or Select count. Arithmetic inside an index never counts.
  double flops = 0;
  Traffic global, scratch, shared, registers;  ///< bytes as executed: repeated accesses count each time
  double unique_global_bytes = 0;              ///< distinct bytes of all parameters that are touched
  double barriers = 0;                         ///< kBlock and kCluster barriers executed by one block
  std::int64_t register_bytes = 0;             ///< bytes of all kRegister buffers of one thread
  std::int64_t shared_bytes = 0;   ///< bytes of one block: each buffer rounded up to its alignment
  std::int64_t scratch_bytes = 0;  ///< bytes of one work item: each buffer rounded up to 64 bytes
  Launch launch;

  // Work that a compiler cannot remove: executions over the whole kernel of the operations as written, none
  // of them hoisted.
  double integer_operations = 0;  ///< in indices, counts, conditions, extents and Lets
  double integer_divisions = 0;   ///< Div and Mod among integer_operations, except by a constant power of two
  double guards = 0;  ///< executions of an If, a Select by one condition or an access with an `active` count
  /// Maximum number of buffers in flight: 1 + the largest argument of a cp_async_wait, or the number of
  /// barriers for TMA loads; 0 if the kernel has neither.
  int pipeline_depth = 0;
};

/// Analyzes a kernel in one walk. A statement outside of a block or thread loop counts once for that loop,
/// not once per thread. Ids must be in range (why_malformed() checks that). Throws Error(kInternal) when
/// loops nest deeper than kMaxLoopDepth or disagree on the launch shape. Cost (bench/score_bench, an AMD EPYC
/// of Zen 5): 2 us on average over sampled CPU GEMMs with their tail copies, 4 us over CUDA GEMMs.
Analysis analyze(const Kernel& kernel);

}  // namespace lehr::ir
