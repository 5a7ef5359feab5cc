// Translates a convolution and its epilogue to cuDNN's graph, without calling the library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workload/workload.h"

namespace lehr::cudnn {

/// Where a tensor of a graph is stored.
enum class DnnPlace {
  kProblem,       ///< one of tensors_of(workload)
  kVirtual,       ///< not stored: the library keeps it in registers
  kIntermediate,  ///< in memory between two graphs
};

struct DnnTensor {
  int type = 0;                           ///< cudnnDataType_t
  std::array<std::int64_t, 4> extents{};  ///< n, c, h, w in this order, whatever their order in memory
  std::array<std::int64_t, 4> strides{};  ///< in elements
  DnnPlace place = DnnPlace::kVirtual;
  std::size_t tensor = 0;  ///< with kProblem: position in tensors_of(workload)
  friend bool operator==(const DnnTensor&, const DnnTensor&) = default;
};

/// A convolution. The graph's first three tensors are its input, its filter and its output.
struct DnnConvolution {
  /// Values for h and for w. `before` and `after` are the padding.
  std::array<std::int64_t, 2> before{}, after{}, strides{}, dilations{};
  int compute = 0;  ///< cudnnDataType_t of the accumulation
  friend bool operator==(const DnnConvolution&, const DnnConvolution&) = default;
};

/// y = mode(x) or y = mode(x, b). `x`, `y` and `b` are positions in DnnGraph::tensors.
struct DnnPointwise {
  int mode = 0;  ///< cudnnPointwiseMode_t
  std::size_t x = 0, y = 0;
  std::optional<std::size_t> b = {};
  /// Bounds of CUDNN_POINTWISE_RELU_FWD. nullopt: 0 and infinity.
  std::optional<double> low = {}, high = {};
  friend bool operator==(const DnnPointwise&, const DnnPointwise&) = default;
};

struct DnnGraph {
  std::vector<DnnTensor> tensors;
  std::optional<DnnConvolution> convolution;
  std::vector<DnnPointwise> pointwise;  ///< in the order of the epilogue; computed in `math`
  int math = 0;                         ///< cudnnDataType_t
  friend bool operator==(const DnnGraph&, const DnnGraph&) = default;
};

/// Returns the whole workload as one graph. Throws Error(kUser) for a workload that is not a convolution,
/// that ends in a pool, or whose types the library does not have.
DnnGraph fused_graph(const Workload& workload);

/// Returns the workload as two graphs: the convolution alone, whose output is rounded to the workload's
/// output type in memory, and then the epilogue. A framework whose compiler fuses elementwise operations only
/// runs a convolution like this. Throws as fused_graph() does, and for a workload without epilogue.
std::vector<DnnGraph> unfused_graphs(const Workload& workload);

}  // namespace lehr::cudnn
