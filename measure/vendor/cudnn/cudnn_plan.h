// From a graph to a plan that runs it: cuDNN's heuristics return configs of engines, and a plan is built from
// a config.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/cuda/cuda_driver.h"
#include "measure/vendor/cudnn/cudnn.h"
#include "measure/vendor/cudnn/cudnn_graph.h"

namespace lehr::cudnn {

/// cudnnBackendHeurMode_t.
enum class DnnHeuristic { kB = 1, kFallback = 2, kA = 3 };

/// One of the library's configs for a graph. The flags are the numerical notes of its engine
/// (cudnnBackendNumericalNote_t).
struct DnnConfig {
  DnnDescriptor descriptor;
  std::string text;  ///< "engine 67, knobs 2=13 13=2": the library's own numbers; equal for equal configs
  bool tensor_cores = false;   ///< CUDNN_NUMERICAL_NOTE_TENSOR_CORE
  bool down_converts = false;  ///< ..._DOWN_CONVERT_INPUTS: f32 operands are rounded, to TF32 or f16
  /// ..._REDUCED_PRECISION_REDUCTION: partial sums are added in a narrower type.
  bool reduced_precision = false;
};

/// A graph that was described to the library.
class DnnOperations {
 public:
  /// `alignment` is the alignment of every tensor in bytes.
  DnnStatus describe(const Cudnn& library, const DnnGraph& graph, std::int64_t alignment);
  /// Appends the configs that a heuristic returns, in its order. Appends nothing if it has no engine for the
  /// graph.
  DnnStatus configs(DnnHeuristic heuristic, std::vector<DnnConfig>& found) const;
  const DnnGraph& graph() const { return graph_; }

 private:
  DnnStatus describe_tensors(std::int64_t alignment);
  DnnStatus describe_convolution(const DnnConvolution& convolution);
  DnnStatus describe_pointwise(const DnnPointwise& pointwise);
  DnnStatus read(DnnConfig& config) const;

  const Cudnn* library_ = nullptr;
  DnnGraph graph_;
  std::vector<DnnDescriptor> tensors_;
  std::vector<DnnDescriptor> parts_;       ///< descriptors that the operations refer to
  std::vector<DnnDescriptor> operations_;  ///< destroyed after the graph, before the tensors
  DnnDescriptor graph_descriptor_;
};

/// A config that is ready to run.
class DnnPlan {
 public:
  /// Returns an error if the engine refuses the config after all.
  DnnStatus build(const Cudnn& library, const DnnConfig& config);
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Runs the graph on the handle's stream. `addresses` are the addresses of the graph's tensors, in order.
  /// Addresses of virtual tensors are ignored.
  DnnStatus run(const DnnGraph& graph, const std::vector<CudaAddress>& addresses,
                CudaAddress workspace) const;

 private:
  const Cudnn* library_ = nullptr;
  DnnDescriptor plan_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace lehr::cudnn
