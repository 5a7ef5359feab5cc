// The syntax of a row expression, and its nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "workload/epilogue_steps.h"

namespace lehr {

/// Operation of a node on its operands, each of which is in f32.
enum class RowOp {
  kInput,
  kNumber,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kNegative,
  kLess,  ///< 1 if the comparison holds, else 0; so do the next two
  kAtMost,
  kEqual,
  kMin,     ///< a < b ? a : b
  kMax,     ///< a > b ? a : b
  kSelect,  ///< the second operand if the first one is not 0, else the third
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kAbs,
  kStep,   ///< a step of epilogues (RowNode::step)
  kCast,   ///< rounded to RowNode::type
  kSumOf,  ///< sum along the row; the next four are along the row, too
  kMeanOf,
  kMaxOf,  ///< skips NaN; -inf if all are NaN
  kMinOf,
  kVarOf  ///< mean of the squared distances from the mean
};
constexpr bool is_reduction(RowOp op) {
  return op >= RowOp::kSumOf;
}

struct RowNode {
  RowOp op = RowOp::kNumber;
  std::array<int, 3> operands = {-1, -1, -1};  ///< numbers of operand nodes, which come before this node
  int input = 0;                               ///< number of the input, for kInput
  float number = 0;                            ///< value, for kNumber
  EpilogueStep step = {};                      ///< step, for kStep
  DType type = DType::kF32;                    ///< new type, for kCast
  bool varies = false;                         ///< whether the value varies from column to column
  /// Maximum number of reductions, up to this node, that depend on each other.
  int depth = 0;
  std::span<const int> used() const {
    std::size_t count = 0;
    while (count < operands.size() && operands[count] >= 0) ++count;
    return {operands.data(), count};
  }
  friend bool operator==(const RowNode&, const RowNode&) = default;
};

/// A name that an expression may use, and whether its value differs from column to column.
struct RowName {
  std::string_view name;
  bool varies = false;
};

/// Statements, with names and equal subtrees resolved.
struct RowExpression {
  std::vector<RowNode> nodes;  ///< operands before their users; all different
  std::vector<int> outputs;    ///< the node of each output, in their order
};

inline constexpr std::size_t kMostRowInputs = 8, kMostRowOutputs = 4, kMostRowNodes = 64;
inline constexpr int kMostRowDepth = 4;

/// Returns whether a tensor or a statement may have this name: a letter or _, then letters, digits, _, all
/// lower case.
bool is_row_name(std::string_view name);

/// Returns the canonical text of statements: without blanks and needless parentheses, with the shortest
/// numbers, and with "less" instead of "greater". Does not look up names. Throws Error(kUser), one sentence
/// with the column.
std::string canonical_rows(std::string_view text);

/// Parses statements and looks up their names. Each output must be assigned once, by its name. Statements may
/// read inputs and names assigned before. Throws Error(kUser), one sentence, in the same cases as
/// canonical_rows() and if a limit is exceeded.
RowExpression parse_rows(std::string_view text, std::span<const RowName> inputs,
                         std::span<const RowName> outputs);

}  // namespace lehr
