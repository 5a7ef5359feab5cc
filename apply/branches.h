// A network with kernels for some sizes of its inputs, and the original for all others: one If in ONNX, whose
// condition the engine's own operators compute from the inputs' shapes. Each branch has its constants, since
// engines lay out none that a branch captures.
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
  std::string bytes;      ///< of the ONNX file
  std::string constants;  ///< of the file that it refers to, which both branches read
};
/// Throws Error(kUser), one sentence, where the model's opset has no operator that branches for these sizes
/// take.
void expect_branches(const OnnxModel& model, std::span<const SizeCheck> checks);
/// `rewritten` for inputs of these sizes, at least one, else the original, of which it was made and whose
/// opset has the operators. Its inputs, outputs, and initializers that callers may override are the
/// original's. `constants_path` is what the file of constants will be called.
BranchedModel branched(const OnnxModel& original, const std::string& rewritten,
                       std::span<const SizeCheck> checks, std::string_view constants_path);

/// How a rewritten network is written.
struct NetworkForm {
  NodeForm nodes;
  std::vector<SizeCheck> checks;  ///< empty: no size is open, and there are no branches
  std::string constants_path;     ///< of the file for both branches' constants
};
/// The network in this form; as it is where nothing is replaced.
BranchedModel in_form(const OnnxModel& original, RewrittenModel rewritten, const NetworkForm& form);

/// The network with kernels that branched() was given, by itself; nullopt for what has no branches. Throws as
/// parse_onnx().
std::optional<std::string> unbranched(const std::string& bytes);

}  // namespace lehr
