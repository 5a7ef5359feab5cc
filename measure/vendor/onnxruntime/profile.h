// Where a network's time goes, from the file that a session of ONNX Runtime's writes when it is asked for a
// profile (https://onnxruntime.ai/docs/performance/tune-performance/profiling-tools.html).
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "base/describe.h"

namespace lehr::onnxruntime {

/// A node, and what it takes in one inference. Name and operator are the engine's, which has its own for what
/// it fuses.
struct NodeTime {
  std::string name, op;
  double us = 0;
};
void describe(auto& field, Is<NodeTime> auto& time) {
  field("name", time.name);
  field("op", time.op);
  field("us", time.us);
}

/// By node, the least of all inferences but the first `warm_up`, in the order in which they begin: few are
/// profiled, and what else runs on the machine may interrupt a long node in most of them. A node
/// with subgraphs has their nodes' time. Empty where the text is no whole profile, has no such inference, or
/// is longer than 256 MiB.
std::vector<NodeTime> node_times(std::istream& profile, std::size_t warm_up);

}  // namespace lehr::onnxruntime
