// Attribute and descriptor numbers are those of cudnn_graph.h of cuDNN 9 (cudnnBackendAttributeName_t,
// cudnnBackendDescriptorType_t, cudnnBackendAttributeType_t).
#include "measure/vendor/cudnn/cudnn_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace lehr::cudnn {
namespace {

enum Kind {
  kPointwiseKind = 0,
  kConvolutionKind = 1,
  kEngineKind = 2,
  kEngineConfigKind = 3,
  kHeuristicKind = 4,
  kPlanKind = 5,
  kKnobChoiceKind = 7,
  kConvolutionForwardKind = 10,
  kPointwiseOperationKind = 13,
  kGraphKind = 15,
  kVariantPackKind = 16,
  kTensorKind = 17,
};

enum Type {
  kHandle = 0,
  kDataType = 1,
  kBoolean = 2,
  kInt64 = 3,
  kFloat = 4,
  kDouble = 5,
  kVoidPointer = 6,
  kConvolutionMode = 7,
  kHeuristicMode = 8,
  kKnobType = 9,
  kNumericalNote = 11,
  kPointwiseMode = 14,
  kDescriptor = 15,
};

constexpr int kCrossCorrelation = 1;  // CUDNN_CROSS_CORRELATION
constexpr std::int64_t kMostNotes = 16;
constexpr std::int64_t kMostKnobs = 64;

/// Sets attributes one after the other. Keeps the first error.
class Setter {
 public:
  Setter(const Cudnn& library, int kind, DnnDescriptor& descriptor)
      : descriptor_(descriptor), status_(descriptor.create(library, kind)) {}

  template <typename T>
  Setter& set(int attribute, Type type, std::int64_t count, const T* elements) {
    if (status_.ok()) status_ = descriptor_.set(attribute, type, count, elements);
    return *this;
  }
  template <typename T>
  Setter& set(int attribute, Type type, const T& element) {
    return set(attribute, type, 1, &element);
  }
  Setter& refer(int attribute, const DnnDescriptor& other) {
    return set(attribute, kDescriptor, other.handle());
  }
  DnnStatus finalize() { return status_.ok() ? descriptor_.finalize() : status_; }

 private:
  DnnDescriptor& descriptor_;
  DnnStatus status_;
};

std::int64_t id_of(std::size_t tensor) {
  return static_cast<std::int64_t>(tensor) + 1;
}

}  // namespace

DnnStatus DnnOperations::describe(const Cudnn& library, const DnnGraph& graph, std::int64_t alignment) {
  *this = DnnOperations();
  library_ = &library;
  graph_ = graph;
  DnnStatus status = describe_tensors(alignment);
  if (status.ok() && graph.convolution) status = describe_convolution(*graph.convolution);
  for (const DnnPointwise& pointwise : graph.pointwise)
    if (status.ok()) status = describe_pointwise(pointwise);
  if (!status.ok()) return status;
  std::vector<void*> operations;
  for (const DnnDescriptor& operation : operations_) operations.push_back(operation.handle());
  Setter setter(library, kGraphKind, graph_descriptor_);
  setter.set(801, kDescriptor, static_cast<std::int64_t>(operations.size()), operations.data());
  if (library.handle()) setter.set(800, kHandle, library.handle());
  return setter.finalize();
}

DnnStatus DnnOperations::describe_tensors(std::int64_t alignment) {
  for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
    const DnnTensor& tensor = graph_.tensors[i];
    const DnnStatus status = Setter(*library_, kTensorKind, tensors_.emplace_back())
                                 .set(900, kInt64, alignment)
                                 .set(901, kDataType, tensor.type)
                                 .set(902, kInt64, 4, tensor.extents.data())
                                 .set(903, kInt64, 4, tensor.strides.data())
                                 .set(906, kInt64, id_of(i))
                                 .set(907, kBoolean, tensor.place == DnnPlace::kVirtual)
                                 .finalize();
    if (!status.ok()) return status;
  }
  return {};
}

DnnStatus DnnOperations::describe_convolution(const DnnConvolution& convolution) {
  DnnDescriptor& part = parts_.emplace_back();
  DnnStatus status = Setter(*library_, kConvolutionKind, part)
                         .set(100, kDataType, convolution.compute)
                         .set(101, kConvolutionMode, kCrossCorrelation)
                         .set(102, kInt64, 2, convolution.dilations.data())
                         .set(103, kInt64, 2, convolution.strides.data())
                         .set(104, kInt64, 2, convolution.after.data())
                         .set(105, kInt64, 2, convolution.before.data())
                         .set(106, kInt64, std::int64_t{2})
                         .finalize();
  if (!status.ok()) return status;
  return Setter(*library_, kConvolutionForwardKind, operations_.emplace_back())
      .set(700, kFloat, 1.0F)
      .set(701, kFloat, 0.0F)
      .refer(702, part)
      .refer(703, tensors_[1])
      .refer(704, tensors_[0])
      .refer(705, tensors_[2])
      .finalize();
}

DnnStatus DnnOperations::describe_pointwise(const DnnPointwise& pointwise) {
  DnnDescriptor& part = parts_.emplace_back();
  Setter mode(*library_, kPointwiseKind, part);
  mode.set(0, kPointwiseMode, pointwise.mode).set(1, kDataType, graph_.math);
  if (pointwise.low) mode.set(3, kDouble, *pointwise.low);
  if (pointwise.high) mode.set(4, kDouble, *pointwise.high);
  if (const DnnStatus status = mode.finalize(); !status.ok()) return status;
  Setter operation(*library_, kPointwiseOperationKind, operations_.emplace_back());
  operation.refer(750, part).refer(751, tensors_[pointwise.x]).refer(753, tensors_[pointwise.y]);
  if (pointwise.b) operation.refer(752, tensors_[*pointwise.b]);
  return operation.finalize();
}

DnnStatus DnnOperations::configs(DnnHeuristic heuristic, std::vector<DnnConfig>& found) const {
  DnnDescriptor answer;
  Setter setter(*library_, kHeuristicKind, answer);
  setter.set(200, kHeuristicMode, static_cast<int>(heuristic)).refer(201, graph_descriptor_);
  if (!library_->handle()) setter.refer(204, library_->properties());
  DnnStatus status = setter.finalize();
  std::int64_t count = 0;
  if (status.ok()) status = answer.get(202, kDescriptor, 0, count, nullptr);
  if (!status.ok()) return status;
  std::vector<DnnConfig> configs(static_cast<std::size_t>(count));
  std::vector<void*> handles;
  for (DnnConfig& config : configs) {
    if (status.ok()) status = config.descriptor.create(*library_, kEngineConfigKind);
    handles.push_back(config.descriptor.handle());
  }
  if (status.ok() && count > 0)
    status = answer.get(202, kDescriptor, static_cast<std::int64_t>(handles.size()), count, handles.data());
  if (!status.ok()) return status;
  configs.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, std::ssize(handles))));
  for (DnnConfig& config : configs) {
    if (!read(config).ok()) continue;  // as if the library had not returned it
    found.push_back(std::move(config));
  }
  return {};
}

/// Fills in the members of a config from its engine and its knobs.
DnnStatus DnnOperations::read(DnnConfig& config) const {
  DnnDescriptor engine;
  std::int64_t count = 0, index = -1;
  DnnStatus status = engine.create(*library_, kEngineKind);
  void* handle = engine.handle();
  if (status.ok()) status = config.descriptor.get(300, kDescriptor, 1, count, &handle);
  if (status.ok()) status = engine.get(1301, kInt64, 1, count, &index);
  std::vector<int> notes(kMostNotes);
  std::int64_t noted = 0;
  if (status.ok()) status = engine.get(1303, kNumericalNote, kMostNotes, noted, notes.data());
  if (!status.ok()) return status;
  notes.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(noted, 0, kMostNotes)));
  config.tensor_cores = std::ranges::count(notes, 0) > 0;
  config.down_converts = std::ranges::count(notes, 1) > 0;
  config.reduced_precision = std::ranges::count(notes, 2) > 0;

  config.text = fmt::format("engine {}", index);
  std::vector<DnnDescriptor> knobs(kMostKnobs);
  std::vector<void*> handles;
  for (DnnDescriptor& knob : knobs) {
    if (status.ok()) status = knob.create(*library_, kKnobChoiceKind);
    handles.push_back(knob.handle());
  }
  if (status.ok()) status = config.descriptor.get(302, kDescriptor, kMostKnobs, count, handles.data());
  if (!status.ok()) return status;
  for (std::int64_t i = 0; i < std::min(count, kMostKnobs); ++i) {
    int type = -1;
    std::int64_t value = -1, one = 0;
    const DnnDescriptor& knob = knobs[static_cast<std::size_t>(i)];
    if (!knob.get(600, kKnobType, 1, one, &type).ok() || !knob.get(601, kInt64, 1, one, &value).ok())
      continue;
    config.text += fmt::format("{} {}={}", i == 0 ? ", knobs" : "", type, value);
  }
  return {};
}

DnnStatus DnnPlan::build(const Cudnn& library, const DnnConfig& config) {
  *this = DnnPlan();
  library_ = &library;
  Setter setter(library, kPlanKind, plan_);
  setter.refer(401, config.descriptor);
  if (library.handle())
    setter.set(400, kHandle, library.handle());
  else
    setter.refer(407, library.properties());
  if (const DnnStatus status = setter.finalize(); !status.ok()) return status;
  std::int64_t count = 0;
  return plan_.get(402, kInt64, 1, count, &workspace_bytes_);
}

DnnStatus DnnPlan::run(const DnnGraph& graph, const std::vector<CudaAddress>& addresses,
                       CudaAddress workspace) const {
  std::vector<std::int64_t> ids;
  std::vector<void*> pointers;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensors[i].place == DnnPlace::kVirtual) continue;
    ids.push_back(id_of(i));
    pointers.push_back(reinterpret_cast<void*>(addresses[i]));
  }
  DnnDescriptor pack;
  const DnnStatus status = Setter(*library_, kVariantPackKind, pack)
                               .set(1000, kInt64, std::ssize(ids), ids.data())
                               .set(1001, kVoidPointer, std::ssize(pointers), pointers.data())
                               .set(1003, kVoidPointer, reinterpret_cast<void*>(workspace))
                               .finalize();
  return status.ok() ? execute(*library_, plan_, pack) : status;
}

}  // namespace lehr::cudnn
