// Internal to ir/analyze: describes how one flat index changes with each enclosing loop, extracted in one
// walk over the expression.
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

/// A variable as analysis sees it: either the variable of the loop at `depth`, or a Let of `value`, whose
/// index form is `form`.
struct VarBinding {
  int depth = -1;
  const Expr* value = nullptr;
  IndexForm* form = nullptr;
};

/// The loops that enclose the current statement, and the variables that are bound there.
struct LoopNest {
  int depth = 0;                                      ///< number of enclosing loops
  std::array<std::int64_t, kMaxLoopDepth> extents{};  ///< bounds, outermost first
  std::pmr::vector<VarBinding> vars;                  ///< bindings, indexed by VarId
};

/// The values of one non-affine term of an index while the loop at `depth` runs and all other loops stay at
/// iteration 0: an arithmetic progression.
struct IndexTerm {
  std::int64_t depth = 0;
  std::int64_t step = 0;
  std::int64_t count = 1;
};

/// The values of an expression while one loop runs from 0 to its extent and all other loops stay at 0. at0
/// and at1, the values at iterations 0 and 1, are exact. Outside affine arithmetic it is only an estimate
/// that the values are at0, at0 + step, ... (`count` values).
struct Progression {
  std::int64_t at0 = 0;
  std::int64_t at1 = 0;
  std::int64_t step = 0;
  std::int64_t count = 1;

  std::int64_t span() const { return std::abs(step) * (count - 1); }
};
/// The values of a whole index while the loop at `depth` runs and all other loops stay at 0.
struct IndexValues {
  int depth;
  Progression values;
};

/// How an index changes with one loop.
struct IndexMotion {
  /// The index at iteration 1 minus the index at iteration 0, with all other loops at 0.
  std::int64_t stride;
  /// Coefficient of the loop's variable in the affine terms (equal to `stride` if the whole index is affine).
  std::int64_t coefficient;
};

struct IndexForm {
  /// The vectors' memory comes from the arena `memory`, so the object need not be destroyed before the arena.
  explicit IndexForm(std::pmr::memory_resource* memory) : terms(memory), bent(memory), loads(memory) {}

  std::uint32_t loops = 0;  ///< the enclosing loops that the index depends on, one bit per depth
  std::int64_t offset = 0;  ///< the index at iteration 0 of every loop
  /// The non-affine terms: those under a Div, Mod, Xor, Min, Max, Select, comparison or product of variables.
  /// Usually empty.
  std::pmr::vector<IndexTerm> terms;
  /// For the form of a Let that has non-affine terms: its values along each loop for which they have been
  /// computed so far.
  std::pmr::vector<IndexValues> bent;
  int operations = 0;  ///< integer operations of the expression as written, Lets not expanded
  int divisions = 0;   ///< Div and Mod among `operations`, except by a constant power of two
  /// Loads inside the expression (gathers), outermost first, Lets not expanded.
  std::pmr::vector<const Load*> loads;
  /// Indexed by the loops' depth. The last member, because most of the array is never touched.
  std::array<IndexMotion, kMaxLoopDepth> motions;

  IndexMotion& along(int depth) { return motions[static_cast<std::size_t>(depth)]; }
  const IndexMotion& along(int depth) const { return motions[static_cast<std::size_t>(depth)]; }
};

/// Reads `index` into `form`, and reuses the memory of its vectors. A Load inside an index counts as the
/// value 0.
void read_index(const Expr& index, const LoopNest& nest, IndexForm& form);
/// Adds only the operations, divisions and loads of `expr` to the counts of `form`.
void count_operations(const Expr& expr, const LoopNest& nest, IndexForm& form);

}  // namespace lehr::ir
