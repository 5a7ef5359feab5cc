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

/// Deepest loop nest that analysis takes (grid 3 + block 3 + 18 loops). A template that nests deeper is a
/// mistake.
inline constexpr int kMaxLoopDepth = 24;

/// One value per enclosing loop, from the outermost in. Stored in place: a kernel has some fifty of these,
/// and an allocation costs as much as the values.
template <typename T>
class PerLoop {
 public:
  PerLoop() {}  // not `= default`: the values stay as they are
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Resizes; new values are undefined. Does not CHECK: the walk keeps to kMaxLoopDepth.
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
  std::size_t size_ = 0;  // near the values that are used
  std::array<T, kMaxLoopDepth> values_;
};

/// One For of the kernel, in pre-order.
struct LoopInfo {
  VarId var{};
  std::int64_t extent = 0;  ///< the bound
  LoopKind kind = LoopKind::kSerial;
  int depth = 0;          ///< 0 = outermost
  int parent = -1;        ///< index into Analysis::loops, -1 at the top
  double iterations = 0;  ///< total executions of the body: product of the extents from the root to here
  /// Flops of everything inside, for one execution of the whole loop nest (all iterations).
  double flops = 0;
};

/// One load, store or touch in the text of the kernel, in pre-order (a store before the loads of its value,
/// an access before the loads inside its index). Loads under a Let, an If's condition or a loop's extent
/// count too.
struct Access {
  // Not `= default`: that would clear the arrays.
  Access() {}
  BufferId buffer{};
  bool writes = false;
  /// Elements per execution (a touch's `elements`).
  int lanes = 1;
  /// Innermost enclosing loop, -1 at the top.
  int loop = -1;
  /// Product of the extents of the enclosing loops. Under an If with stated `threads`, only their share.
  double executions = 0;
  /// Whether it may not be executed, though it is counted as if it always were. It is under an If without
  /// stated threads, under a Select by one condition, or has an `active` count; or it is a partial touch, or
  /// the source of a cp_async whose byte count is not a constant.
  bool guarded = false;
  /// Whether it is a touch of a cp_async_* or tma_* intrinsic.
  bool asynchronous = false;
  /// Whether there are loads inside its index.
  bool gathers = false;
  /// Div and Mod in its index, except by constant powers of two. Lets are not expanded.
  int divisions = 0;
  /// The enclosing loops that its index depends on, one bit per depth.
  std::uint32_t moves_with = 0;
  /// Flat index at iteration 0 of every loop, in elements.
  std::int64_t offset = 0;
  /// Per enclosing loop from the outermost in: change of the flat index from iteration 0 to 1, in elements,
  /// with the other loops at 0.
  PerLoop<std::int64_t> strides;
  /// Per enclosing loop from the outermost in: distinct elements touched by one full execution of that loop's
  /// iterations, estimated from strides and extents. It is never above the buffer's size or the executions
  /// times lanes. The set of indices is a sum of arithmetic progressions: one per loop (extent values, stride
  /// apart), one per loop and Div, Mod or other non-affine term, one for the lanes. Two progressions whose
  /// steps divide each other and that leave no gap merge into one. The estimate is the product of those that
  /// remain, capped by the range of indices spanned, by iterations x lanes and by the buffer's size. It is
  /// exact for tiles, convolution windows and their packed copies. Empty if no cache serves the buffer.
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
  /// By VarId: the enclosing loops that a Let depends on, one bit per depth; 0 for a loop's variable.
  std::vector<std::uint32_t> let_moves_with;
  /// Arithmetic on data in the whole kernel, at loop bounds (tails counted as full). An Fma counts 2 x lanes,
  /// a Reduce lanes - 1, an Intrinsic its own flops. An add, sub, mul, div, min or max with a Load or Float
  /// among its operands counts its lanes (integer data, such as that of s8 GEMMs, included). Both branches of
  /// an If or Select count. Arithmetic inside an index never does.
  double flops = 0;
  Traffic global, scratch, shared, registers;  ///< bytes as executed, not distinct
  double unique_global_bytes = 0;              ///< distinct bytes of all parameters that are touched
  double barriers = 0;                         ///< kBlock and kCluster barriers executed by one block
  std::int64_t register_bytes = 0;             ///< all kRegister buffers of one thread
  std::int64_t shared_bytes = 0;   ///< bytes of one block: each buffer rounded up to its alignment
  std::int64_t scratch_bytes = 0;  ///< bytes of one work item: each buffer rounded up to 64 bytes
  Launch launch;

  // Work that a compiler cannot remove, as executed over the whole kernel and as written (nothing hoisted).
  double integer_operations = 0;  ///< in indices, counts, conditions, extents and Lets
  double integer_divisions = 0;   ///< Div and Mod among these, except by a constant power of two
  double guards = 0;  ///< executions of an If, a Select by one condition or an access with an `active` count
  /// Buffers in flight: 1 + the largest argument of a cp_async_wait, or the number of barriers of TMA loads;
  /// 0 without.
  int pipeline_depth = 0;
};

/// Reads everything in one walk. A statement outside of a block or thread loop counts once for that loop, not
/// once per thread. Ids must be in range (why_malformed() checks that). Throws Error(kInternal) when loops
/// nest deeper than 24 or disagree on the launch shape. Cost (bench/score_bench, an AMD EPYC of Zen 5): 2 us
/// on average over sampled CPU GEMMs with their tail copies, 4 us over CUDA ones.
Analysis analyze(const Kernel& kernel);

}  // namespace lehr::ir
