// Finds regions of a graph that can be computed row by row: normalizations, softmax, and the element-wise
// nodes around them, between products.
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
  std::vector<std::string_view> inputs;  ///< values that become the workload's inputs, in order
  /// Values that become the workload's outputs, in order: all values of the region that nodes outside of it
  /// read.
  std::vector<std::string_view> outputs;
  std::string workload;  ///< the workload's text
};

/// Returns all regions, in the order of their first nodes. Nodes whose element in `taken` is true are
/// excluded; `taken` has an element per node of the graph. If two nodes depend on each other through nodes
/// outside of a region, they are in different regions, so that each region can become a single node. A region
/// with too many inputs, outputs or reductions is left out, not divided.
std::vector<RowRegion> row_regions(const OnnxModel& model, const GraphShapes& shapes, const Readers& readers,
                                   const std::vector<char>& taken);

}  // namespace lehr
