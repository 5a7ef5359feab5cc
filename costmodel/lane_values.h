// Integer expressions of a kernel evaluated at 32 points at once: the threads of the first warp, or a sample
// of all iterations. Exact where strides are not: division, remainder and XOR of the thread index. Internal
// to costmodel/.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "ir/kernel.h"

namespace lehr {

using Lanes = std::array<std::int32_t, 32>;

/// One number per point, in 32-bit arithmetic that wraps around. Most have one for all points (constants, and
/// on a warp all loops but its threads'), and many differ by one summand only and share their lanes.
struct LaneValue {
  std::int32_t scalar = 0;
  const Lanes* lanes = nullptr;  ///< the number at point t is scalar + (*lanes)[t]; nullptr: scalar at all

  bool is_uniform() const { return lanes == nullptr; }
  Lanes all() const;
};

class LaneValues {
 public:
  enum class Points {
    kWarp,    ///< lane t is thread t of the block's first warp, in the first iteration of all other loops
    kSample,  ///< lanes are spread over the iterations of all loops
  };

  /// Refers to its arguments; values lie in `memory`.
  LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, Points points,
             std::pmr::memory_resource* memory);

  /// `kernel`'s loops and Lets must be bound in the order of the text; a later binding of a variable replaces
  /// it.
  void bind(const ir::For& loop);
  void bind(const ir::Let& let);
  /// What is no integer arithmetic (a load, a float) counts as 0. The lanes live as long as the memory.
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
  LaneValue apply(ir::BinaryOp op, LaneValue a, LaneValue b);
  LaneValue add(LaneValue a, LaneValue b);
  LaneValue multiply(LaneValue value, std::int32_t factor);
  LaneValue divide_by_power_of_two(ir::BinaryOp op, LaneValue value, std::int32_t divisor);
  /// The value of `lanes`, uniform if they are all alike.
  static LaneValue reduced(const Lanes& lanes);
  /// Undefined lanes.
  Lanes& fresh();

  const ir::Launch& launch_;
  Points points_;
  std::pmr::memory_resource* memory_;
  std::pmr::vector<Binding> bindings_;
};

/// Bank conflict degree of one warp's access: how many times more cycles than without conflicts, at least 1.
/// `word` are the threads' first 4-byte words, `words` the consecutive words of each (1 to 4). Shared memory
/// has 32 banks of 4 bytes; 8- and 16-byte accesses are served per half and quarter warp; threads of one
/// phase that read the same word share it (CUDA C++ Programming Guide, Compute Capability 5.x and later).
double bank_conflict_degree(const Lanes& word, int words);

/// NVIDIA L1/L2 sector (Nsight Compute documentation, "sectors per request").
inline constexpr int kSectorBytes = 32;
/// Distinct sectors that one warp's access of `access_bytes` per thread touches; `index` in elements of
/// `element_bytes` (a power of two up to 32), thread 0 at a sector's start.
double sectors_of_warp(const Lanes& index, double access_bytes, int element_bytes);

}  // namespace lehr
