// The order in which a kernel computes a row expression: in passes over a row. A reduction that depends on
// another one belongs to a later pass.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/rowwise/rowwise.h"

namespace lehr::cpu {

/// How a kernel treats values that a later pass needs again.
enum class RowKeep : std::int64_t {
  kAgain,     ///< computes the values again
  kScratch,   ///< values that cost more than a load are stored in scratch memory
  kRegisters  ///< such values, and inputs, stay in registers
};

/// The sum, maximum or minimum along the row of a node that varies along it.
struct RowReduction {
  RowOp op = RowOp::kSumOf;  ///< kSumOf, kMaxOf or kMinOf
  int of = -1;               ///< the node that is reduced
  /// Number of a reduction that is the sum of the same node. If given, this reduction sums up the squared
  /// distances from that sum's mean. -1: it sums up the values.
  int centre = -1;
  int pass = 0;
  friend bool operator==(const RowReduction&, const RowReduction&) = default;
};

struct RowPlan {
  RowExpression expression;
  std::vector<RowReduction> reductions;
  /// For each node: the number of its reduction; -1 if the node is not a reduction.
  std::vector<int> reduction;
  /// For each node that varies along the row: the first pass that can compute it. For each other node: the
  /// number of passes that must end before it is known.
  std::vector<int> ready;
  int passes = 0;
  std::vector<std::vector<int>>
      uses;  ///< for each pass and node: how often the pass uses the node; 0: the pass does not compute it
  std::vector<std::vector<int>> roots;  ///< for each pass: the varying nodes that are reduced or stored in it
  /// For each node: whether a pass after the one that computed it reads it.
  std::vector<bool> kept;
  /// For each node: the pass that computes it first; -1 if it does not vary.
  std::vector<int> made;
  std::vector<bool> needed;  ///< for each node: whether it is the same along the row and is read

  const RowNode& node(int number) const { return expression.nodes[static_cast<std::size_t>(number)]; }
  bool has_reductions() const { return !reductions.empty(); }
  /// Returns the number of nodes that are kept.
  std::int64_t kept_count() const;
  /// The values from earlier passes that one pass reads. Pass number `passes` stands for the outputs that are
  /// the same along the row and known only after the last pass.
  struct Needs {
    /// For each node: whether it is the same along the row and the pass reads it.
    std::vector<bool> row_values;
    std::vector<bool> reductions;  ///< for each reduction: whether the pass reads its result
  };
  Needs needs_of(int pass, const Rowwise& rowwise) const;
};

RowPlan plan_rows(const Rowwise& rowwise, RowKeep keep);

}  // namespace lehr::cpu
