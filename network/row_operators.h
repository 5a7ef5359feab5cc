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
  std::string text;                            ///< "" for an optional operand that the node omits
  std::optional<float> number = std::nullopt;  ///< set if the value is a number
  std::string root_of = {};                    ///< the radicand if the value is a square root; else ""
};
RowTerm number_term(float value);
/// Returns the text that applies a step of an epilogue (workload/epilogue_steps.h) to a value.
RowTerm step_term(const EpilogueStep& step, const RowTerm& value);

/// The statements of a row expression, in order.
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
  /// First of the dimensions of the first input that form a row; nullopt: each element is computed by itself.
  std::optional<std::int64_t> axis = std::nullopt;
  bool alone = false;      ///< whether a kernel for this node alone is worthwhile
  std::size_t values = 0;  ///< number of leading inputs that are operands
};
/// Returns the form of a node. Returns nullopt if row expressions have no such operator, or do not support
/// its attributes. `rank` is the rank of the first input. `axes` has the axes of a reduction that gets them
/// as an input.
std::optional<RowNodeForm> row_form(const OnnxNode& node, std::int64_t opset, std::size_t rank,
                                    const std::optional<std::vector<std::int64_t>>& axes);
/// Returns the input that holds the axes of a reduction; "" if the axes are an attribute or missing.
std::string_view axes_input(const OnnxNode& node);

/// Returns the node's outputs as text, given the terms of its operands. Returns nullopt if no row expression
/// can compute them. Values that the outputs use more than once become statements in `statements`.
std::optional<std::vector<RowTerm>> row_terms(const OnnxNode& node, std::vector<RowTerm> in,
                                              RowStatements& statements);

}  // namespace lehr
