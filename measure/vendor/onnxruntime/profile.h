// Where a network's time goes, from the file that a session of ONNX Runtime's writes when it is asked for a
// profile (https://onnxruntime.ai/docs/performance/tune-performance/profiling-tools.html).
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

#include "base/describe.h"

namespace lehr::onnxruntime {

/// What all nodes of an operator take in one inference.
struct OperatorTime {
  std::string name;  ///< as the engine has it: of what it fuses a name of its own
  double us = 0;
};
void describe(auto& field, Is<OperatorTime> auto& time) {
  field("name", time.name);
  field("us", time.us);
}

/// By operator, the median over all inferences but the first `warm_up`; the largest first. A node with
/// subgraphs has their nodes' time. Empty where the text is no whole profile, has no such inference, or is
/// longer than 256 MiB.
std::vector<OperatorTime> operator_times(std::istream& profile, std::size_t warm_up);

}  // namespace lehr::onnxruntime
