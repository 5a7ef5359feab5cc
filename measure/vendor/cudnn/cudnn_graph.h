// A convolution and what follows it as a graph in cuDNN's terms: pure translation, no library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workload/workload.h"

namespace lehr::cudnn {

/// Where a tensor of a graph is.
enum class DnnPlace {
  kProblem,       ///< one of tensors_of(workload)
  kVirtual,       ///< nowhere: the library keeps it in registers
  kIntermediate,  ///< in memory between two graphs
};

struct DnnTensor {
  int type = 0;                           ///< cudnnDataType_t
  std::array<std::int64_t, 4> extents{};  ///< n, c, h, w, in whatever order they lie in memory
  std::array<std::int64_t, 4> strides{};  ///< in elements
  DnnPlace place = DnnPlace::kVirtual;
  std::size_t tensor = 0;  ///< of kProblem: which one
  friend bool operator==(const DnnTensor&, const DnnTensor&) = default;
};

/// Its tensors are the graph's first three: input, filter, sums.
struct DnnConvolution {
  std::array<std::int64_t, 2> before{}, after{}, strides{}, dilations{};  ///< of h and w; the first two pad
  int compute = 0;                                                        ///< cudnnDataType_t of the sums
  friend bool operator==(const DnnConvolution&, const DnnConvolution&) = default;
};

/// y = mode(x) or mode(x, b); the numbers index DnnGraph::tensors.
struct DnnPointwise {
  int mode = 0;  ///< cudnnPointwiseMode_t
  std::size_t x = 0, y = 0;
  std::optional<std::size_t> b = {};
  std::optional<double> low = {}, high = {};  ///< bounds of CUDNN_POINTWISE_RELU_FWD other than 0 and none
  friend bool operator==(const DnnPointwise&, const DnnPointwise&) = default;
};

struct DnnGraph {
  std::vector<DnnTensor> tensors;
  std::optional<DnnConvolution> convolution;
  std::vector<DnnPointwise> pointwise;  ///< in order, computed in `math`
  int math = 0;                         ///< cudnnDataType_t
  friend bool operator==(const DnnGraph&, const DnnGraph&) = default;
};

/// The whole workload as one graph. Throws Error(kUser) for one that is no convolution, that ends in a pool
/// or whose types the library has no name for.
DnnGraph fused_graph(const Workload& workload);

/// The same in two: the convolution by itself, rounded to the output's type in memory, and then one graph of
/// all that follows, as a framework runs it whose compiler fuses elementwise operations only. Throws as
/// fused_graph() does, and for a workload without epilogue.
std::vector<DnnGraph> unfused_graphs(const Workload& workload);

}  // namespace lehr::cudnn
