// Integer expressions of a kernel evaluated at 32 points at once: the threads of the first warp, the first
// blocks, or a sample of all iterations. Exact where strides are not: division, remainder and XOR of the
// thread index. Internal to costmodel/.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "ir/kernel.h"

namespace lehr {

/// Returns a lane's number as bits, which wrap around without undefined behaviour.
inline std::uint32_t raw(std::int32_t x) {
  return static_cast<std::uint32_t>(x);
}

using Lanes = std::array<std::int32_t, 32>;

/// One number per point, in 32-bit arithmetic that wraps around. Most values are the same at all points
/// (constants, and on a warp all loops but its threads'). Many of the others are a multiple of another value
/// and share its lanes.
struct LaneValue {
  std::int32_t scalar = 0;
  std::int32_t factor = 0;
  /// The number at point t is scalar + factor * (*lanes)[t]; if nullptr, it is scalar.
  const Lanes* lanes = nullptr;

  bool is_uniform() const { return lanes == nullptr; }
  Lanes all() const;
};

class LaneValues {
 public:
  enum class Points {
    /// Lane t is thread t of the block's first warp, in the first iteration of all other loops.
    kWarp,
    /// Lane t is the first thread of block t in the first iteration of all other loops. Blocks are in the
    /// order in which they start (x, y, z), from the first again if there are fewer than 32.
    kBlocks,
    /// Lanes are spread over the iterations of all loops.
    kSample,
  };

  /// Refers to its arguments. The lanes of its values lie in `memory`.
  LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, std::pmr::memory_resource* memory);

  /// Binds a loop or Let of `kernel`. All must be bound in the order of the text. A later binding of a
  /// variable replaces the earlier one.
  void bind(const ir::For& loop);
  void bind(const ir::Let& let);
  /// Evaluates `expr`. Anything but integer arithmetic (a load, a float) counts as 0.
  LaneValue evaluate(const ir::Expr& expr, Points points) {
    points_ = points;
    return evaluate(expr);
  }

 private:
  struct Binding {
    const ir::For* loop = nullptr;
    const ir::Let* let = nullptr;
    std::array<bool, 3> known{};  // by Points: whether its value has been computed
    std::array<LaneValue, 3> values;
  };
  LaneValue evaluate(const ir::Expr& expr);
  LaneValue value_of(ir::VarId id);
  LaneValue value_of_loop(const ir::For& loop, std::size_t var);
  /// Returns the thread's or block's position. `dimension`: 0: x, 1: y, 2: z.
  LaneValue value_of_place(std::int32_t dimension, const std::array<std::int64_t, 3>& extents);
  LaneValue apply(ir::BinaryOp op, const LaneValue& a, const LaneValue& b);
  LaneValue add(LaneValue a, LaneValue b);
  LaneValue step(ir::BinaryOp op, const LaneValue& a, const LaneValue& b);
  /// Returns these numbers: as a uniform value if they are all alike, else as a copy.
  LaneValue kept(const Lanes& lanes);

  const ir::Launch& launch_;
  Points points_ = Points::kWarp;
  std::pmr::memory_resource* memory_;
  std::pmr::vector<Binding> bindings_;
};

}  // namespace lehr
