// Reads the times of a network's nodes from the profile that a session of ONNX Runtime writes on request
// (https://onnxruntime.ai/docs/performance/tune-performance/profiling-tools.html).
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "base/describe.h"

namespace lehr::onnxruntime {

/// A node with its time in one inference. Name and operator are the engine's. Fused nodes have names that the
/// engine made up.
struct NodeTime {
  std::string name, op;
  double us = 0;
};
void describe(auto& field, Is<NodeTime> auto& time) {
  field("name", time.name);
  field("op", time.op);
  field("us", time.us);
}

/// Returns the minimum time of each node over all inferences but the first `warm_up`, in the order in which
/// the nodes begin. The minimum is used because few inferences are profiled, and other programs on the
/// machine may interrupt a long node in most of them. The time of a node with subgraphs includes their nodes.
/// Returns nothing if the text is not a complete profile, has no such inference, or is longer than 256 MiB.
std::vector<NodeTime> node_times(std::istream& profile, std::size_t warm_up);

}  // namespace lehr::onnxruntime
