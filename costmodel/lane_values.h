// Integer expressions of a kernel evaluated at 32 points at once: the threads of the first warp, or a sample
// of all iterations. Exact where strides are not: division, remainder and XOR of the thread index. Internal
// to costmodel/.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace lehr {

using Lanes = std::array<std::int32_t, 32>;

class LaneValues {
 public:
  enum class Points {
    kWarp,    ///< lane t is thread t of the block's first warp, in the first iteration of all other loops
    kSample,  ///< lanes are spread over the iterations of all loops
  };

  LaneValues(const ir::Kernel& kernel, const ir::Launch& launch, Points points);

  /// `kernel`'s loops and Lets must be bound in the order of the text; a later binding of a variable replaces
  /// it.
  void bind(const ir::For& loop);
  void bind(const ir::Let& let);
  /// What is no integer arithmetic (a load, a float) counts as 0. 32-bit arithmetic that wraps around.
  void evaluate(const ir::Expr& expr, Lanes& out);

 private:
  /// Most subexpressions have one value for all lanes: constants, and on a warp all loops but its threads'.
  struct Value {
    Value() {}  // not `= default`: that would clear the lanes
    bool uniform = true;
    std::int32_t scalar = 0;  ///< where uniform
    Lanes lanes;              ///< where not
  };
  struct Binding {
    const ir::For* loop = nullptr;
    const ir::Let* let = nullptr;
    const Value* known = nullptr;  ///< its value, once it was asked for: `own`, or another variable's
    Value own;
  };
  const Value& value_of(ir::VarId id);
  /// The value of `expr`: in `storage`, or a variable's.
  const Value& value_of(const ir::Expr& expr, Value& storage);
  void fill_loop(Binding& binding, std::size_t var);
  static void apply(ir::BinaryOp op, const Value& a, const Value& b, Value& out);

  const ir::Launch& launch_;
  Points points_;
  std::vector<Binding> bindings_;
};

/// Bank conflict degree of one warp's access: how many times more cycles than without conflicts, at least 1.
/// `word` are the threads' first 4-byte words, `words` the consecutive words of each (1 to 4). Shared memory
/// has 32 banks of 4 bytes; 8- and 16-byte accesses are served per half and quarter warp; threads of one
/// phase that read the same word share it (CUDA C++ Programming Guide, Compute Capability 5.x and later).
double bank_conflict_degree(const Lanes& word, int words);

/// NVIDIA L1/L2 sector (Nsight Compute documentation, "sectors per request").
inline constexpr int kSectorBytes = 32;
/// Distinct sectors that one warp's access of `access_bytes` per thread touches; `index` in elements of
/// `element_bytes`, thread 0 at a sector's start.
double sectors_of_warp(const Lanes& index, double access_bytes, int element_bytes);

}  // namespace lehr
