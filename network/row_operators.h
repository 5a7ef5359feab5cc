// Writes operators that work along rows as text of a row expression (workload/rowwise).
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

/// A value's text, in parentheses if its outermost part is an operator.
struct RowTerm {
  std::string text;                            ///< "" for an operand that is left out
  std::optional<float> number = std::nullopt;  ///< set if it is a number
  std::string root_of = {};                    ///< the radicand if it is a square root; else ""
};
RowTerm number_term(float value);
/// Applies a step of epilogues (workload/epilogue_steps.h) to a value.
RowTerm step_term(const EpilogueStep& step, const RowTerm& value);

/// Statements in order.
class RowStatements {
 public:
  /// Gives the value a name, so that it can be used more than once.
  RowTerm named(const RowTerm& term);
  RowTerm assign(std::string name, const RowTerm& term);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t names_ = 0;
};

struct RowNodeForm {
  /// Dimension of the first input from which on a row begins; nullopt: each element is computed by itself.
  std::optional<std::int64_t> axis = std::nullopt;
  bool alone = false;      ///< whether a kernel pays for this node alone
  std::size_t values = 0;  ///< number of inputs, from the first on, that are operands
};
/// Returns the form of a node; nullopt for other operators or attributes. `rank` is the first input's. `axes`
/// are those of a reduction that has them as an input.
std::optional<RowNodeForm> row_form(const OnnxNode& node, std::int64_t opset, std::size_t rank,
                                    const std::optional<std::vector<std::int64_t>>& axes);
/// Returns the input that has the axes of a reduction; "" if they are an attribute or missing.
std::string_view axes_input(const OnnxNode& node);

/// Returns the node's outputs as text; nullopt if no expression can compute them.
std::optional<std::vector<RowTerm>> row_terms(const OnnxNode& node, std::vector<RowTerm> in,
                                              RowStatements& statements);

}  // namespace lehr
