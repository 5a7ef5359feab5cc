// What operators that go along rows compute, as text of a row expression (workload/rowwise).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/onnx.h"
#include "workload/epilogue.h"

namespace lehr {

/// A value: how it is written, in parentheses where an operator is its outermost.
struct RowTerm {
  std::string text;                            ///< "" for an operand that is left out
  std::optional<float> number = std::nullopt;  ///< where it is one
  std::string root_of = {};                    ///< what it is the square root of; "": no root
};
RowTerm number_term(float value);
/// A step of epilogues (workload/epilogue_steps.h) of a value.
RowTerm step_term(const EpilogueStep& step, const RowTerm& value);

/// Statements, in order.
class RowStatements {
 public:
  /// The same value by a name, to be written more than once.
  RowTerm named(const RowTerm& term);
  RowTerm assign(std::string name, const RowTerm& term);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t names_ = 0;
};

struct RowNodeForm {
  /// A row is what its first input has from this dimension on; nullopt: each element is computed by itself.
  std::optional<std::int64_t> axis = std::nullopt;
  bool alone = false;      ///< a kernel pays for a node of its own
  std::size_t values = 0;  ///< so many of its inputs, the first ones, are operands
};
/// nullopt for a node that is no such operator, or one with other attributes. `rank`: of its first input;
/// `axes`: of a reduction whose input tells them.
std::optional<RowNodeForm> row_form(const OnnxNode& node, std::int64_t opset, std::size_t rank,
                                    const std::optional<std::vector<std::int64_t>>& axes);
/// The axes of a reduction are the elements of this input; "" where an attribute tells them, or none does.
std::string_view axes_input(const OnnxNode& node);

/// The node's outputs; nullopt where no expression says them.
std::optional<std::vector<RowTerm>> row_terms(const OnnxNode& node, std::vector<RowTerm> in,
                                              RowStatements& statements);

}  // namespace lehr
