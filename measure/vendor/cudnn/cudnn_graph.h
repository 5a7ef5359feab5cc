// Translates a convolution and its epilogue to a graph in cuDNN's terms, without the library.
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
  std::array<std::int64_t, 4> extents{};  ///< n, c, h, w, whatever their order in memory
  std::array<std::int64_t, 4> strides{};  ///< in elements
  DnnPlace place = DnnPlace::kVirtual;
  std::size_t tensor = 0;  ///< position among tensors_of(workload), with kProblem
  friend bool operator==(const DnnTensor&, const DnnTensor&) = default;
};

/// A convolution. Its tensors are the graph's first three: input, filter, sums.
struct DnnConvolution {
  /// Values along h and w. `before` and `after` are padding.
  std::array<std::int64_t, 2> before{}, after{}, strides{}, dilations{};
  int compute = 0;  ///< cudnnDataType_t of the sums
  friend bool operator==(const DnnConvolution&, const DnnConvolution&) = default;
};

/// y = mode(x) or mode(x, b); the numbers are positions in DnnGraph::tensors.
struct DnnPointwise {
  int mode = 0;  ///< cudnnPointwiseMode_t
  std::size_t x = 0, y = 0;
  std::optional<std::size_t> b = {};
  /// Bounds of CUDNN_POINTWISE_RELU_FWD, if they are not 0 and infinity.
  std::optional<double> low = {}, high = {};
  friend bool operator==(const DnnPointwise&, const DnnPointwise&) = default;
};

struct DnnGraph {
  std::vector<DnnTensor> tensors;
  std::optional<DnnConvolution> convolution;
  std::vector<DnnPointwise> pointwise;  ///< in order, computed in `math`
  int math = 0;                         ///< cudnnDataType_t
  friend bool operator==(const DnnGraph&, const DnnGraph&) = default;
};

/// Returns the whole workload as one graph. Throws Error(kUser) for one that is not a convolution, that ends
/// in a pool, or whose types the library has no name for.
DnnGraph fused_graph(const Workload& workload);

/// Returns it as two graphs: the convolution alone, rounded to the output's type in memory, and then all that
/// follows. A framework whose compiler only fuses elementwise operations runs it like this. Throws as
/// fused_graph() does, and for a workload without epilogue.
std::vector<DnnGraph> unfused_graphs(const Workload& workload);

}  // namespace lehr::cudnn
