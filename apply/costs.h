// Measures costs of an applied network that its time at the chosen sizes does not include: the cost of its
// session, and its times at other sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "apply/engine_trial.h"
#include "apply/size_condition.h"
#include "base/describe.h"

namespace lehr {

/// The cost of the first session of a process. 0: not known.
struct SessionCost {
  double creation_us = 0;
  std::int64_t memory_bytes = 0;  ///< growth of the process's memory, including the first inference
};
void describe(auto& field, Is<SessionCost> auto& cost) {
  field("creation_us", cost.creation_us);
  field("memory_bytes", cost.memory_bytes);
}
/// Measures a network's session in a new process.
SessionCost session_cost(const Network& network, const onnxruntime::ModelFile& file,
                         const EngineCheck& check);

/// Runs a network and the original network at the smallest sizes of the ranges. Returns a sentence if the
/// outputs differ. Returns "" if the outputs agree, or if no size has a range.
std::string wrong_at_least(const Network& network, const onnxruntime::ModelFile& file,
                           std::span<const SizeCheck> checks, const EngineCheck& check);

/// Times of both networks at sizes for which the original nodes are used instead of kernels.
struct OtherSizes {
  std::string sizes;  ///< "batch=2"
  double original_us = 0, rewritten_us = 0;
  Ratio speedup;
};
void describe(auto& field, Is<OtherSizes> auto& other) {
  field("sizes", other.sizes);
  field("original_us", other.original_us);
  field("rewritten_us", other.rewritten_us);
  describe_speedup(field, other.speedup);
}

/// Times a network with branches for `seconds` at sizes other than the checked ones. A few sizes are tried,
/// and the first sizes at which the original runs are used. Returns nullopt if the original runs at none of
/// these sizes. If the outputs of the two networks differ, sets `wrong` to a sentence.
std::optional<OtherSizes> try_other_sizes(const Network& network, const onnxruntime::ModelFile& file,
                                          std::span<const SizeCheck> checks, const EngineCheck& check,
                                          double seconds, std::string& wrong);

}  // namespace lehr
