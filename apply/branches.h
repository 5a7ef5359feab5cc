// A network with kernels for some sizes of its inputs, and the original for all others: one If in ONNX. The
// engine's own operators compute its condition from the inputs' shapes. Each branch has constants of its own,
// since engines do not rearrange constants that a branch captures.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apply/rewrite.h"
#include "apply/size_condition.h"

namespace lehr {

struct BranchedModel {
  std::string bytes;      ///< the ONNX file
  std::string constants;  ///< the file that it refers to, which both branches read
};
/// Throws Error(kUser) with one sentence if the model's opset lacks an operator that branches for these sizes
/// need.
void expect_branches(const OnnxModel& model, std::span<const SizeCheck> checks);
/// Returns `rewritten` for inputs of these sizes, at least one, with the original for all other sizes.
/// `rewritten` was made from the original, whose opset must have the operators. Inputs, outputs and
/// overridable initializers are the original's. `constants_path` is the name of the file of constants.
BranchedModel branched(const OnnxModel& original, const std::string& rewritten,
                       std::span<const SizeCheck> checks, std::string_view constants_path);

/// How a rewritten network is written.
struct NetworkForm {
  NodeForm nodes;
  std::vector<SizeCheck> checks;  ///< empty: no size is open, and there are no branches
  std::string constants_path;     ///< the file for both branches' constants
};
/// Returns the network in this form; unchanged if nothing is replaced.
BranchedModel in_form(const OnnxModel& original, RewrittenModel rewritten, const NetworkForm& form);

/// Returns the network with kernels that branched() got; nullopt if there are no branches. Throws as
/// parse_onnx().
std::optional<std::string> unbranched(const std::string& bytes);

}  // namespace lehr
