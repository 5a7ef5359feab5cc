// Integer expressions of a kernel evaluated at 32 points at once: the threads of the first warp, or a sample
// of all iterations. Exact where strides are not: division, remainder and XOR of the thread index. Internal
// to costmodel/.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "costmodel/lane_memo.h"
#include "ir/kernel.h"

namespace lehr {

class LaneValues {
 public:
  enum class Points {
    kWarp,    ///< lane t is thread t of the block's first warp, in the first iteration of all other loops
    kSample,  ///< lanes are spread over the iterations of all loops
  };

  /// Refers to its arguments; the lanes of its values are `memo`'s.
  LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, Points points, LaneMemo& memo,
             std::pmr::memory_resource* memory);

  /// `kernel`'s loops and Lets must be bound in the order of the text; a later binding of a variable replaces
  /// it.
  void bind(const ir::For& loop);
  void bind(const ir::Let& let);
  /// What is no integer arithmetic (a load, a float) counts as 0.
  LaneValue evaluate(const ir::Expr& expr);

 private:
  struct Binding {
    const ir::For* loop = nullptr;
    const ir::Let* let = nullptr;
    bool known = false;  // its value was asked for
    LaneValue value;
  };
  LaneValue value_of(ir::VarId id);
  LaneValue value_of_loop(const ir::For& loop, std::size_t var);
  LaneValue value_of_thread(ir::LoopKind kind);
  LaneValue apply(ir::BinaryOp op, const LaneValue& a, const LaneValue& b);
  LaneValue add(LaneValue a, LaneValue b);
  LaneValue step(ir::BinaryOp op, const LaneValue& a, const LaneValue& b);

  const ir::Launch& launch_;
  Points points_;
  LaneMemo& memo_;
  std::pmr::vector<Binding> bindings_;
};

}  // namespace lehr
