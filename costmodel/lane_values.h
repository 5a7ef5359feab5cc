// Evaluates integer expressions of a kernel at 32 points at once: for the threads of the first warp, for the
// first blocks, or for a sample of all iterations. Unlike strides, the values are exact for division,
// remainder and XOR of the thread index. Internal to costmodel/.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "ir/kernel.h"

namespace lehr {

/// Converts a lane's number to an unsigned one with the same bits, whose arithmetic wraps around without
/// undefined behaviour.
inline std::uint32_t raw(std::int32_t x) {
  return static_cast<std::uint32_t>(x);
}

using Lanes = std::array<std::int32_t, 32>;

/// One number per point, in 32-bit arithmetic that wraps around. Most values are the same at all points
/// (constants, and for a warp all loop variables except its threads'). Many others are a multiple of another
/// value, and share its lanes.
struct LaneValue {
  std::int32_t scalar = 0;
  std::int32_t factor = 0;
  /// The number at point t is scalar + factor * (*lanes)[t]. If `lanes` is nullptr, it is scalar at all
  /// points.
  const Lanes* lanes = nullptr;

  bool is_uniform() const { return lanes == nullptr; }
  Lanes all() const;
};

class LaneValues {
 public:
  enum class Points {
    /// Lane t is thread t of the block's first warp, in the first iteration of all other loops.
    kWarp,
    /// Lane t is the first thread of block t, in the first iteration of all other loops. Blocks are numbered
    /// in the order in which they start (x, y, z). If there are fewer than 32 blocks, they repeat.
    kBlocks,
    /// Lanes are spread over the iterations of all loops.
    kSample,
  };

  /// Refers to its arguments. The lanes of its values are allocated from `memory`.
  LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, std::pmr::memory_resource* memory);

  /// Binds a loop or Let of `kernel`. All loops and Lets must be bound in the order of the text. A later
  /// binding of a variable replaces the earlier one.
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
    std::array<bool, 3> known{};  // indexed by Points: whether the variable's value has been computed
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
  /// Returns these numbers as a value: a uniform one if they are all equal, otherwise one with a copy of
  /// them.
  LaneValue kept(const Lanes& lanes);

  const ir::Launch& launch_;
  Points points_ = Points::kWarp;
  std::pmr::memory_resource* memory_;
  std::pmr::vector<Binding> bindings_;
};

}  // namespace lehr
