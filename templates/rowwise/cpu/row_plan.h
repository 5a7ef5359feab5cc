// The order in which a kernel computes a row expression: passes over a row, one for each dependent reduction.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/rowwise/rowwise.h"

namespace lehr::cpu {

/// How a kernel treats values that a later pass needs, too.
enum class RowKeep : std::int64_t {
  kAgain,     ///< computes them again
  kScratch,   ///< values that cost more than a load stay in scratch memory
  kRegisters  ///< these values, and inputs, stay in registers
};

/// A sum, or the largest or least value, of a node that varies along the row.
struct RowReduction {
  RowOp op = RowOp::kSumOf;  ///< kSumOf, kMaxOf or kMinOf
  int of = -1;               ///< a node
  /// The number of the reduction that is the sum of the same node: this one then adds squared distances from
  /// its mean. -1: it adds the values.
  int centre = -1;
  int pass = 0;
  friend bool operator==(const RowReduction&, const RowReduction&) = default;
};

struct RowPlan {
  RowExpression expression;
  std::vector<RowReduction> reductions;
  std::vector<int> reduction;  ///< by node: the number of its reduction; -1 if it is not one
  /// By node: the first pass that can compute it. If it is the same along the row: how many passes must end
  /// before it is known.
  std::vector<int> ready;
  int passes = 0;
  std::vector<std::vector<int>>
      uses;  ///< by pass and node: how often the pass uses it; 0: it does not compute it
  std::vector<std::vector<int>> roots;  ///< by pass: nodes that vary and are reduced or stored in it
  std::vector<bool> kept;               ///< by node: whether a pass behind the one that made it reads it
  std::vector<int> made;                ///< by node: the pass that computes it first; -1 if it does not vary
  std::vector<bool> needed;  ///< by node: whether it is the same along the row, and something reads it

  const RowNode& node(int number) const { return expression.nodes[static_cast<std::size_t>(number)]; }
  bool has_reductions() const { return !reductions.empty(); }
  /// Returns how many nodes are kept.
  std::int64_t kept_count() const;
  /// The values that one pass reads of the passes before it. Pass `passes` stands for the outputs that are
  /// the same along the row and known behind the last pass.
  struct Needs {
    std::vector<bool> row_values;  ///< by node: whether it is read, and the same along the row
    std::vector<bool> reductions;  ///< by number: whether the reduction's result is read
  };
  Needs needs_of(int pass, const Rowwise& rowwise) const;
};

RowPlan plan_rows(const Rowwise& rowwise, RowKeep keep);

}  // namespace lehr::cpu
