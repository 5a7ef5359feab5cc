// Networks of f32 that are computed in bf16: the workload that a match becomes, and the nodes between
// matches.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "network/matches.h"

namespace lehr {

/// Tells who can compute a node that reads and writes bf16 instead of f32. kEngine: the engine, since the
/// node only moves elements. kPlugin: the plug-in's operator with the same name and attributes
/// (plugin/README.md). kNone: nobody.
enum class NarrowNode { kNone, kEngine, kPlugin };
NarrowNode narrow_node(const OnnxNode& node, const GraphShapes& shapes);
/// Whether the node's output gets elements of this input, so that the input is in bf16, too. Other inputs are
/// sizes and axes. The node must be one that narrow_node() accepts.
bool is_narrow_input(const OnnxNode& node, std::size_t input);

/// Returns the workload that reads bf16, sums in f32, and writes the type `output`, which is bf16 or f32.
/// Operands of the epilogue have the output's type.
Workload narrow_workload(Workload workload, DType output);

/// Workloads in bf16 for the matches of f32 for which a family serves them. The output of a workload is in
/// bf16 if all its readers read bf16 once all these matches are in bf16. Nodes that narrow_node() accepts may
/// lie between. The output is in f32 if a reader needs f32, or if no family serves the workload with an
/// output in bf16.
using NarrowWorkloads = std::unordered_map<const Match*, Workload>;
NarrowWorkloads narrow_workloads(const OnnxModel& model, const GraphShapes& shapes, const Matches& matches,
                                 const IsServed& is_served);

/// The oldest opset in which ONNX's own nodes take bf16.
inline constexpr std::int64_t kNarrowOpset = 13;

}  // namespace lehr
