// What an applied network costs beside its time at the sizes that it was applied for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "apply/engine_trial.h"
#include "apply/size_condition.h"
#include "base/describe.h"

namespace lehr {

/// What a process's first session takes; 0: not known.
struct SessionCost {
  double creation_us = 0;
  std::int64_t memory_bytes = 0;  ///< that the process grew by, its first inference among it
};
void describe(auto& field, Is<SessionCost> auto& cost) {
  field("creation_us", cost.creation_us);
  field("memory_bytes", cost.memory_bytes);
}
/// Measures a network's session in a process of its own.
SessionCost session_cost(const Network& network, const onnxruntime::ModelFile& file,
                         const EngineCheck& check);

/// Says where a network computes something else than the original at the least size of a range; "": it does
/// not, or no size has a range.
std::string wrong_at_least(const Network& network, const onnxruntime::ModelFile& file,
                           std::span<const SizeCheck> checks, const EngineCheck& check);

/// Times at sizes that the kernels are not for.
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

/// A network with branches at the first sizes but the checked ones with which the original runs, timed for
/// `seconds`; nullopt where it runs with none of those that are tried. `wrong` gets a sentence where the
/// other network computes something else there.
std::optional<OtherSizes> try_other_sizes(const Network& network, const onnxruntime::ModelFile& file,
                                          std::span<const SizeCheck> checks, const EngineCheck& check,
                                          double seconds, std::string& wrong);

}  // namespace lehr
