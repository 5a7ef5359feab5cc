// What a kernel does, read off its AST in one walk: loops, accesses, strides, footprints, flops and bytes per
// level. The features (costmodel/) are computed from this and from nothing else. Must cost microseconds: it
// runs on every candidate that the search considers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace lehr::ir {

/// Deepest loop nest that analysis takes; a template that nests deeper is a mistake (grid 3 + block 3 + 18
/// loops).
inline constexpr int kMaxLoopDepth = 24;

/// One value per enclosing loop, from the outermost in. In place, because a kernel has some fifty of them and
/// an allocation costs as much as the values.
template <typename T>
class PerLoop {
 public:
  PerLoop() {}  // not `= default`: the values stay as they are
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// New values are undefined. CHECKs nothing: kMaxLoopDepth is the walk's to keep.
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
  std::size_t size_ = 0;  // beside the values that are used
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
  double flops = 0;  ///< flops of everything inside, per execution of the whole loop nest (all iterations)
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
  /// Product of the extents of the enclosing loops; under an If that states its threads, the share of these.
  double executions = 0;
  /// Under an If whose threads are not stated, a Select by one condition or an `active` count, a partial
  /// touch, or the source of a cp_async whose byte count is not a constant; counted as if always executed.
  bool guarded = false;
  /// A touch of a cp_async_* or tma_* intrinsic.
  bool asynchronous = false;
  /// There are loads inside its index.
  bool gathers = false;
  /// In its index, Lets not expanded: Div and Mod but by constant powers of two.
  int divisions = 0;
  /// The enclosing loops that its index depends on, a bit per depth.
  std::uint32_t moves_with = 0;
  /// Flat index at iteration 0 of every loop, in elements.
  std::int64_t offset = 0;
  /// Per enclosing loop from the outermost in: change of the flat index from iteration 0 to 1, other loops at
  /// 0, in elements
  PerLoop<std::int64_t> strides;
  /// Per enclosing loop from the outermost in: distinct elements touched by one full execution of that loop's
  /// iterations, estimated from strides and extents and never above the buffer's size or the executions times
  /// lanes. The set of indices is a sum of arithmetic progressions, one per loop (extent values, stride
  /// apart), one per Div, Mod or other non-affine part and loop, one for the lanes. Two progressions whose
  /// steps divide each other and that leave no gap merge into one. Estimate: the product of what remains;
  /// capped by the range of indices spanned, by iterations x lanes and by the buffer's size. Exact for tiles,
  /// convolution windows and their packed copies. Empty where no cache serves the buffer.
  PerLoop<double> footprint;
};

/// Per scope and direction, over the whole kernel (all threads, blocks and parts).
struct Traffic {
  double read_bytes = 0;
  double written_bytes = 0;
};

struct Analysis {
  std::vector<LoopInfo> loops;
  std::vector<Access> accesses;
  /// By VarId: the enclosing loops that a Let depends on, a bit per depth; 0 for a loop's variable.
  std::vector<std::uint32_t> let_moves_with;
  /// Arithmetic on data in the whole kernel, at loop bounds (tails counted as full): Fma 2 x lanes, Reduce
  /// lanes - 1, add/sub/mul/div/min/max with a Load or Float among their operands lanes (integer data, as of
  /// s8 GEMMs, included), Intrinsic its own. Both branches of an If or Select count. Arithmetic inside an
  /// index never does.
  double flops = 0;
  Traffic global, scratch, shared, registers;  ///< bytes as executed, not distinct
  double unique_global_bytes = 0;              ///< distinct bytes of all parameters that are touched
  double barriers = 0;                         ///< kBlock and kCluster barriers executed by one block
  std::int64_t register_bytes = 0;             ///< all kRegister buffers of one thread
  std::int64_t shared_bytes = 0;               ///< of one block: each buffer rounded up to its alignment
  std::int64_t scratch_bytes = 0;              ///< of one part: each buffer rounded up to 64 bytes
  Launch launch;

  // What a compiler cannot make disappear, as executed over the whole kernel, as written (nothing hoisted).
  double integer_operations = 0;  ///< in indices, counts, conditions, extents and Lets
  double integer_divisions = 0;   ///< of these: Div and Mod by anything but a constant power of two
  double guards = 0;  ///< executions of an If, a Select by one condition or an access with an `active` count
  /// Buffers in flight: 1 + the largest argument of a cp_async_wait, or the barriers of TMA loads; 0 without.
  int pipeline_depth = 0;
};

/// Reads everything in one walk. A statement outside of a block or thread loop counts once for that loop, not
/// once per thread. CHECKs that ids are in range is why_malformed()'s task, not this one's; throws
/// Error(kInternal) when loops nest deeper than 24 or disagree on the launch shape.
/// Cost (bench/score_bench, an AMD EPYC of Zen 5): 2 us on average over sampled CPU GEMMs with their tail
/// copies, 4 us over CUDA ones.
Analysis analyze(const Kernel& kernel);

}  // namespace lehr::ir
