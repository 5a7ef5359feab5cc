// A network of f32 in bf16: which workload a place would be, and what lies between places.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "network/places.h"

namespace lehr {

/// Who computes a node that reads and writes bf16 in the place of f32: nobody; an engine, which only moves
/// elements; or the plug-in's operator of the same name and attributes (plugin/README.md).
enum class NarrowNode { kNone, kEngine, kPlugin };
NarrowNode narrow_node(const OnnxNode& node, const GraphShapes& shapes);
/// Whether an input of such a node has elements that its output has, too; others are sizes and axes.
bool is_narrow_input(const OnnxNode& node, std::size_t input);

/// The workload that reads bf16 and writes `output`, bf16 or f32, with sums in f32. What its epilogue reads
/// is of the output's type.
Workload narrow_workload(Workload workload, DType output);

/// Of the places of f32 those that `is_served` in bf16, and as what: the output is in bf16 where all that
/// reads it would read bf16 if all of these places were computed so, directly or through nodes of
/// narrow_node(); else, and where that is not served, in f32.
using NarrowWorkloads = std::unordered_map<const NetworkPlace*, Workload>;
NarrowWorkloads narrow_workloads(const OnnxModel& model, const GraphShapes& shapes,
                                 const NetworkPlaces& places, const IsServed& is_served);

/// The oldest opset in which nodes of ONNX's own take bf16.
inline constexpr std::int64_t kNarrowOpset = 13;

}  // namespace lehr
