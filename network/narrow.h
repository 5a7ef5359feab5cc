// A network of f32 in bf16: the workload that a match would be, and the nodes between matches.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "network/matches.h"

namespace lehr {

/// Who computes a node that reads and writes bf16 instead of f32: nobody; an engine, which only moves
/// elements; or the plug-in's operator with the same name and attributes (plugin/README.md).
enum class NarrowNode { kNone, kEngine, kPlugin };
NarrowNode narrow_node(const OnnxNode& node, const GraphShapes& shapes);
/// Whether an input of such a node has elements that its output has, too. Other inputs are sizes and axes.
bool is_narrow_input(const OnnxNode& node, std::size_t input);

/// Returns the workload that reads bf16 and writes `output`, bf16 or f32, with sums in f32. Operands of its
/// epilogue have the output's type.
Workload narrow_workload(Workload workload, DType output);

/// The workloads in bf16 of the matches of f32 that are served so. The output is in bf16 if all its readers,
/// directly or through nodes of narrow_node(), would read bf16 when all these matches are in bf16. Otherwise,
/// or if that is not served, it is in f32.
using NarrowWorkloads = std::unordered_map<const Match*, Workload>;
NarrowWorkloads narrow_workloads(const OnnxModel& model, const GraphShapes& shapes, const Matches& matches,
                                 const IsServed& is_served);

/// The oldest opset in which ONNX's own nodes take bf16.
inline constexpr std::int64_t kNarrowOpset = 13;

}  // namespace lehr
