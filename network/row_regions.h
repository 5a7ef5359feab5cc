// Regions of a graph that are computed row by row: normalizations, softmax, and the element-wise nodes around
// them, between the products.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "network/elementwise.h"
#include "network/onnx.h"
#include "network/shapes.h"

namespace lehr {

/// Nodes that one row expression computes.
struct RowRegion {
  std::vector<std::size_t> nodes;        ///< ascending
  std::vector<std::string_view> inputs;  ///< values for the workload's inputs
  /// Values for its outputs; nodes outside of the region read no other value of it.
  std::vector<std::string_view> outputs;
  std::string workload;  ///< the workload's text
};

/// Returns all regions of nodes that are not `taken` (as many as the graph has nodes), in the order of their
/// first nodes. Nodes that depend on each other through other nodes are in different regions, so each region
/// can become a node. A region is taken whole: one with too many inputs, outputs or reductions is left out.
std::vector<RowRegion> row_regions(const OnnxModel& model, const GraphShapes& shapes, const Readers& readers,
                                   const std::vector<char>& taken);

}  // namespace lehr
