// The operators of an inference engine that compute a place of a graph, as a plan's `nodes` (rewrite.h).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "network/places.h"

namespace lehr {

/// An input of a fused node.
struct FusedInput {
  std::string_view name;   ///< that the node reads
  std::string_view value;  ///< of the graph, that it stands for; "": it is made of several constants
  std::vector<std::int64_t> shape;
  bool constant = false;
  DType type = DType::kF32;
  bool narrowed = false;  ///< to its type, from f32
};

/// Of what is narrowed, and of an output in bf16 where the graph's is in f32, the nodes cast to f32 and back.
/// `folded`: the filter and the bias have been made of several constants (fold.h). Throws Error(kUser), one
/// sentence, for a node that cannot be told so.
nlohmann::json engine_nodes(const OnnxModel& model, const GraphShapes& shapes, const Workload& workload,
                            const NetworkPlace& place, const std::vector<FusedInput>& inputs, bool folded);

}  // namespace lehr
