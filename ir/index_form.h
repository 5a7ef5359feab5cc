// Internal to ir/analyze: how one flat index moves with each enclosing loop, extracted in one walk over the
// expression.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory_resource>
#include <vector>

#include "ir/analyze.h"

namespace lehr::ir {

struct IndexForm;

/// A variable as analysis sees it: a loop at `depth`, or a Let of `value`, which reads as `form`.
struct VarBinding {
  int depth = -1;
  const Expr* value = nullptr;
  IndexForm* form = nullptr;
};

/// The enclosing loops of a point and the variables bound there.
struct LoopNest {
  int depth = 0;                                      ///< number of enclosing loops
  std::array<std::int64_t, kMaxLoopDepth> extents{};  ///< bounds, outermost first
  std::pmr::vector<VarBinding> vars;                  ///< by VarId
};

/// The values that a term of an index takes as the loop at `depth` runs alone: an arithmetic progression.
struct IndexTerm {
  std::int64_t depth = 0;
  std::int64_t step = 0;
  std::int64_t count = 1;
};

/// A value as one loop runs from 0 to its extent and the other loops stay at 0. at0 and at1 are exact. That
/// the values are at0, at0 + step, ... (count of them) is an estimate outside affine arithmetic.
struct Progression {
  std::int64_t at0 = 0;
  std::int64_t at1 = 0;
  std::int64_t step = 0;
  std::int64_t count = 1;

  std::int64_t span() const { return std::abs(step) * (count - 1); }
};
/// The values of a whole index as the loop at `depth` runs alone.
struct IndexValues {
  int depth;
  Progression values;
};

/// How an index moves with one loop.
struct IndexMotion {
  std::int64_t stride;  ///< the index at iteration 1 minus that at iteration 0, the other loops at 0
  /// Coefficient of the loop in the affine terms (= stride if the whole index is affine).
  std::int64_t coefficient;
};

struct IndexForm {
  /// Its vectors lie in `memory`, so that it need not be destroyed before.
  explicit IndexForm(std::pmr::memory_resource* memory) : terms(memory), bent(memory), loads(memory) {}

  std::uint32_t loops = 0;  ///< the enclosing loops that it depends on, one bit per depth
  std::int64_t offset = 0;  ///< the index at iteration 0 of every loop
  /// The terms under a Div, Mod, Xor, Min, Max, Select, comparison or product of variables; usually empty.
  std::pmr::vector<IndexTerm> terms;
  /// For a Let: the values along loops of `terms` that have been computed so far.
  std::pmr::vector<IndexValues> bent;
  int operations = 0;  ///< integer operations of the expression as written, Lets not expanded
  int divisions = 0;   ///< Div and Mod among these, except by a constant power of two
  std::pmr::vector<const Load*> loads;  ///< loads inside it (gathers), outermost first, Lets not expanded
  /// By the loops' depth. The last member, because most of it is never touched.
  std::array<IndexMotion, kMaxLoopDepth> motions;

  IndexMotion& along(int depth) { return motions[static_cast<std::size_t>(depth)]; }
  const IndexMotion& along(int depth) const { return motions[static_cast<std::size_t>(depth)]; }
};

/// Reads `index` into `form`, whose vectors are reused. A Load inside an index counts as the value 0.
void read_index(const Expr& index, const LoopNest& nest, IndexForm& form);
/// Adds only the counts to `form`: operations, divisions and loads.
void count_operations(const Expr& expr, const LoopNest& nest, IndexForm& form);

}  // namespace lehr::ir
