// Costs of an applied network that its time at the chosen sizes does not show: the cost of its session, and
// its times at other sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "apply/engine_trial.h"
#include "apply/size_condition.h"
#include "base/describe.h"

namespace lehr {

/// The cost of a process's first session; 0: not known.
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

/// Runs a network and the original at the least sizes of the ranges. Returns a sentence if they differ; "" if
/// they agree, or if no size has a range.
std::string wrong_at_least(const Network& network, const onnxruntime::ModelFile& file,
                           std::span<const SizeCheck> checks, const EngineCheck& check);

/// Times of both networks at sizes that the kernels are not for.
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

/// Times a network with branches for `seconds` at sizes other than the checked ones. It tries a few, and
/// takes the first at which the original runs. Returns nullopt if the original runs at no tried size. If the
/// network with branches computes something else than the original, `wrong` gets a sentence.
std::optional<OtherSizes> try_other_sizes(const Network& network, const onnxruntime::ModelFile& file,
                                          std::span<const SizeCheck> checks, const EngineCheck& check,
                                          double seconds, std::string& wrong);

}  // namespace lehr
