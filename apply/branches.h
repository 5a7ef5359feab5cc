// A network that uses kernels for some sizes of its inputs and the original nodes for all other sizes: one If
// node of ONNX with two branches. The engine's own operators compute the condition from the inputs' shapes.
// Each branch lists its constants itself, since an engine does not rearrange constants that a branch captures
// from the graph around it.
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
  std::string constants;  ///< bytes of the file with the constants of both branches; `bytes` refers to it
};
/// Throws Error(kUser) with one sentence if branches for these sizes need an operator that the model's opset
/// lacks.
void expect_branches(const OnnxModel& model, std::span<const SizeCheck> checks);
/// Returns a network with two branches: `rewritten` for inputs that pass all `checks`, and the original for
/// all others. `checks` must not be empty, and `rewritten` must have been made from the original.
/// expect_branches() must accept the original. The new network has the original's inputs, outputs and
/// overridable initializers. It refers to the file of constants as `constants_path`.
BranchedModel branched(const OnnxModel& original, const std::string& rewritten,
                       std::span<const SizeCheck> checks, std::string_view constants_path);

/// How a rewritten network is written.
struct NetworkForm {
  NodeForm nodes;
  std::vector<SizeCheck> checks;  ///< empty: no size is open, and there are no branches
  std::string constants_path;     ///< name of the file with the constants of both branches
};
/// Returns `rewritten` with branches if `form` has checks, and without branches if it has no checks or
/// nothing is replaced.
BranchedModel in_form(const OnnxModel& original, RewrittenModel rewritten, const NetworkForm& form);

/// Returns the branch with kernels as a network of its own. This is the network that was passed to branched()
/// as `rewritten`. Returns nullopt if the network has no branches. Throws as parse_onnx() does.
std::optional<std::string> unbranched(const std::string& bytes);

}  // namespace lehr
