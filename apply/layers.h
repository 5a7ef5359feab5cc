// Where a network's time goes, layer by layer, before and after kernels replace matches.
#pragma once

#include <string>
#include <vector>

#include "apply/engine_trial.h"
#include "apply/rewrite.h"
#include "base/describe.h"

namespace lehr {

/// A match, another node of the original, or all nodes of an operator that the engine adds or names
/// differently.
struct Layer {
  std::string node, op, workload;
  bool kernel = false;
  double before_us = 0, after_us = 0;
};
void describe(auto& field, const Layer& layer) {
  field("node", Known{layer.node},
        "the node's name in the file (of one without: its output); of a convolution or product that has a "
        "workload its own, for all that goes with it; `null`: all nodes of the operator that the file does "
        "not have, or that the engine made of several");
  field("operator", layer.op, "the file's where there is a workload, else the engine's");
  field("workload", Known{layer.workload}, "of the kernel, or what a kernel could compute; else `null`");
  field("kernel", layer.kernel, "whether a kernel computes it now");
  field("before_us", layer.before_us, "in the original; 0: not there");
  field("after_us", layer.after_us, "in the network that was written; 0: not there");
}

/// Returns the layers in the order of the graph, followed by the layers that stand for all nodes of an
/// operator. The profile gives each layer's share of the network's time, so `before_us` and `after_us` sum to
/// the two times of the verdict. `rewritten` is the network of the second profile: the original with these
/// replacements, which may be empty. The replacements' matches are among `matches`. Returns an empty list if
/// a profile or a time is missing.
std::vector<Layer> layers_of(const Network& network, const Matches& matches,
                             const std::vector<Replacement>& replacements, const OnnxModel& rewritten,
                             const EngineVerdict& verdict);

}  // namespace lehr
