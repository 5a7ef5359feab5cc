// Regions of a graph that are computed row by row: normalizations, softmax, and what is applied element by
// element around them, between the products.
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
  std::vector<std::string_view> inputs;  ///< values, as the workload's tensors
  std::vector<std::string_view>
      outputs;           ///< the same; whoever is not of the region reads no other value of it
  std::string workload;  ///< its text
};

/// All regions of nodes that are not `taken` (as many as the graph has nodes), in the order of their first
/// nodes. Nodes that depend on each other through others are in different regions, so that the regions can be
/// nodes themselves. A region is whole: one that has too many inputs, outputs or reductions is left out.
std::vector<RowRegion> row_regions(const OnnxModel& model, const GraphShapes& shapes, const Readers& readers,
                                   const std::vector<char>& taken);

}  // namespace lehr
