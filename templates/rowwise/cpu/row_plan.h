// In which order a kernel computes a row expression: passes over a row, one for each dependent reduction.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/rowwise/rowwise.h"

namespace lehr::cpu {

/// What a kernel does with values that a later pass needs, too.
enum class RowKeep : std::int64_t {
  kAgain,     ///< computes them again
  kScratch,   ///< those that cost more than a load stay in scratch memory
  kRegisters  ///< these, and what was read, stay in registers
};

/// A sum, or the largest or least value, of a node that varies along the row.
struct RowReduction {
  RowOp op = RowOp::kSumOf;  ///< kSumOf, kMaxOf or kMinOf
  int of = -1;               ///< a node
  /// The number of the reduction that is the sum of the same node: squared distances from its mean are added
  /// up. -1: the values are.
  int centre = -1;
  int pass = 0;
  friend bool operator==(const RowReduction&, const RowReduction&) = default;
};

struct RowPlan {
  RowExpression expression;
  std::vector<RowReduction> reductions;
  std::vector<int> reduction;  ///< of a node that is one: its number; else -1
  std::vector<int>
      ready;  ///< of a node that varies: the first pass that can compute it; of others: behind so many
  int passes = 0;
  std::vector<std::vector<int>> uses;   ///< of each pass: how often it uses a node; 0: it does not compute it
  std::vector<std::vector<int>> roots;  ///< of each pass: nodes that vary and are reduced or stored in it
  std::vector<bool> kept;               ///< of a node: whether a pass behind the one that made it reads it
  std::vector<int> made;                ///< of a node that varies: the pass that computes it first; else -1
  std::vector<bool> needed;             ///< of a node that is the same along the row

  const RowNode& node(int number) const { return expression.nodes[static_cast<std::size_t>(number)]; }
  bool has_reductions() const { return !reductions.empty(); }
  /// Nodes that are kept.
  std::int64_t kept_count() const;
  /// What one pass reads of the passes before it; pass `passes`: what outputs do that are the same along the
  /// row and known behind the last one.
  struct Needs {
    std::vector<bool> row_values;  ///< by node: those that are the same along the row
    std::vector<bool> reductions;  ///< by number: their results
  };
  Needs needs_of(int pass, const Rowwise& rowwise) const;
};

RowPlan plan_rows(const Rowwise& rowwise, RowKeep keep);

}  // namespace lehr::cpu
