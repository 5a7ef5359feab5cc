// From a graph to a plan that runs it: cuDNN's heuristics return engine configs, and a config becomes a plan.
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

/// One of the library's answers. The notes are its engine's (cudnnBackendNumericalNote_t).
struct DnnConfig {
  DnnDescriptor descriptor;
  std::string text;  ///< "engine 67, knobs 2=13 13=2": the library's own numbers; equal for equal configs
  bool tensor_cores = false;       ///< CUDNN_NUMERICAL_NOTE_TENSOR_CORE
  bool down_converts = false;      ///< ..._DOWN_CONVERT_INPUTS: f32 operands are rounded, to TF32 or f16
  bool reduced_precision = false;  ///< ..._REDUCED_PRECISION_REDUCTION: parts are added in a narrower type
};

/// A graph that was described to the library.
class DnnOperations {
 public:
  /// `alignment` is that of every tensor, in bytes.
  DnnStatus describe(const Cudnn& library, const DnnGraph& graph, std::int64_t alignment);
  /// Appends the heuristic's answers in its order; none if it has no engine for the graph.
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
  std::vector<DnnDescriptor> parts_;       ///< what the operations refer to
  std::vector<DnnDescriptor> operations_;  ///< destroyed after the graph, before the tensors
  DnnDescriptor graph_descriptor_;
};

/// A config that is ready to run.
class DnnPlan {
 public:
  /// Returns an error if the engine refuses the config after all.
  DnnStatus build(const Cudnn& library, const DnnConfig& config);
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Puts the graph on the handle's stream. `addresses` are of the graph's tensors, in order; those of
  /// virtual ones are ignored.
  DnnStatus run(const DnnGraph& graph, const std::vector<CudaAddress>& addresses,
                CudaAddress workspace) const;

 private:
  const Cudnn* library_ = nullptr;
  DnnDescriptor plan_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace lehr::cudnn
