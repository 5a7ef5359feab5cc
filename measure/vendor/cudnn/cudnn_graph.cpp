// Numbers of enumerators are taken from cudnn_graph.h of cuDNN 9 (cudnnDataType_t, cudnnPointwiseMode_t).
#include "measure/vendor/cudnn/cudnn_graph.h"

#include <algorithm>
#include <span>

#include "base/error.h"

namespace lehr::cudnn {
namespace {

/// Returns cudnnDataType_t; nullopt if the library has no tensors of this type.
std::optional<int> data_type(DType type) {
  switch (type) {
    case DType::kF32:
      return 0;  // CUDNN_DATA_FLOAT
    case DType::kF64:
      return 1;  // CUDNN_DATA_DOUBLE
    case DType::kF16:
      return 2;  // CUDNN_DATA_HALF
    case DType::kS8:
      return 3;  // CUDNN_DATA_INT8
    case DType::kS32:
      return 4;  // CUDNN_DATA_INT32
    case DType::kBF16:
      return 9;  // CUDNN_DATA_BFLOAT16
    case DType::kE4M3:
      return 12;  // CUDNN_DATA_FP8_E4M3
    case DType::kE5M2:
      return 13;  // CUDNN_DATA_FP8_E5M2
    default:
      return std::nullopt;
  }
}

constexpr int kAdd = 0,
              kMultiply = 1;  // CUDNN_POINTWISE_ADD, CUDNN_POINTWISE_MUL: with a tensor of the problem
constexpr int kRelu = 100;    // CUDNN_POINTWISE_RELU_FWD

/// The library's operations for an epilogue step. A folded batch norm needs two operations.
struct DnnStep {
  EpilogueOp op;
  std::vector<DnnPointwise> operations;
};

/// Returns the steps that the library supports. All other steps are refused.
std::span<const DnnStep> dnn_steps() {
  static const DnnStep kSteps[] = {
      {EpilogueOp::kBias, {{.mode = kAdd}}},
      {EpilogueOp::kResidual, {{.mode = kAdd}}},
      {EpilogueOp::kScaleShift, {{.mode = kMultiply}, {.mode = kAdd}}},
      {EpilogueOp::kRelu, {{.mode = kRelu}}},
      {EpilogueOp::kRelu6, {{.mode = kRelu, .high = 6}}},
      {EpilogueOp::kClamp, {{.mode = kRelu}}},   // a ReLU with bounds
      {EpilogueOp::kTanh, {{.mode = 101}}},      // CUDNN_POINTWISE_TANH_FWD
      {EpilogueOp::kSigmoid, {{.mode = 102}}},   // CUDNN_POINTWISE_SIGMOID_FWD
      {EpilogueOp::kGeluErf, {{.mode = 104}}},   // CUDNN_POINTWISE_GELU_FWD
      {EpilogueOp::kSilu, {{.mode = 106}}},      // CUDNN_POINTWISE_SWISH_FWD, whose beta is 1
      {EpilogueOp::kGeluTanh, {{.mode = 107}}},  // CUDNN_POINTWISE_GELU_APPROX_TANH_FWD
  };
  return kSteps;
}

/// Returns the operations of a step; empty if the library does not support the step.
std::vector<DnnPointwise> operations_of(const EpilogueStep& step) {
  const auto found = std::ranges::find(dnn_steps(), step.op, &DnnStep::op);
  if (found == dnn_steps().end()) return {};
  std::vector<DnnPointwise> operations = found->operations;
  if (step.op == EpilogueOp::kClamp) {
    // Bounds of 0 and infinity are left out: the library has more engines for its default bounds.
    if (step.numbers[0] != 0) operations[0].low = step.numbers[0];
    operations[0].high = step.numbers[1];
  }
  return operations;
}

std::array<std::int64_t, 4> strides_of(const std::array<std::int64_t, 4>& extents, bool channels_last) {
  const auto [n, c, h, w] = extents;
  if (channels_last) return {h * w * c, 1, w * c, c};
  return {c * h * w, h * w, w, 1};
}

constexpr std::size_t kInput = 0, kFilter = 1, kOutput = 2;

class Translation {
 public:
  explicit Translation(const Workload& workload) : workload_(workload), tensors_(tensors_of(workload)) {
    if (workload.op() != Operator::kConv2d) throw_user("cudnn is asked for convolutions only");
    if (window_of(workload.epilogue) > 1) throw_user("cudnn is not asked for a pool behind a convolution");
    for (const EpilogueStep& step : workload.epilogue.steps)
      if (operations_of(step).empty()) throw_user("cudnn is not asked for {}", to_text(Epilogue{{step}}));
    if (is_integer(accum_of(workload)) && !workload.epilogue.empty())
      throw_user("cudnn is not asked for an epilogue of sums in s32");
    for (const TensorSpec& tensor : tensors_)
      if (!data_type(tensor.type)) throw_user("cudnn has no call for {} operands", name_of(tensor.type));
    const Conv2d& conv = workload.conv2d();
    graph_.math = data_type(conv.accum).value();
    images_ = {conv.n, conv.k, conv.out_h(), conv.out_w()};
  }

  void convolution(DnnTensor sums) {
    const Conv2d& c = workload_.conv2d();
    add(in_problem(kInput, {c.n, c.c, c.h, c.w}));
    add(in_problem(kFilter, {c.k, c.c / c.groups, c.r, c.s}));
    add(sums);
    graph_.convolution = {.before = {c.pad_top, c.pad_left},
                          .after = {c.pad_bottom, c.pad_right},
                          .strides = {c.stride_h, c.stride_w},
                          .dilations = {c.dilation_h, c.dilation_w},
                          .compute = graph_.math};
  }

  /// Adds the epilogue, from tensor `x` of the graph to the output.
  void pointwise(std::size_t x) {
    std::vector<DnnPointwise> operations;
    for (const EpilogueStep& step : workload_.epilogue.steps)
      for (const DnnPointwise& operation : operations_of(step)) operations.push_back(operation);
    const std::vector<StepOperand> operands = operands_of(workload_.epilogue);
    std::size_t operand = 0;
    for (DnnPointwise& operation : operations) {
      operation.x = x;
      if (operation.mode == kAdd || operation.mode == kMultiply) {
        const std::array<std::int64_t, 4> channels = {1, images_[1], 1, 1};
        const std::size_t tensor = tensors_.size() - operands.size() + operand;
        operation.b =
            add(in_problem(tensor, operands[operand++].per == OperandPer::kChannel ? channels : images_));
      }
      x = operation.y = add(&operation == &operations.back() ? output() : in_registers());
    }
    graph_.pointwise = std::move(operations);
  }

  DnnTensor output() const { return in_problem(kOutput, images_); }
  DnnTensor in_registers() const { return images(graph_.math, DnnPlace::kVirtual); }
  DnnTensor in_memory() const {
    return images(data_type(tensors_[kOutput].type).value(), DnnPlace::kIntermediate);
  }
  std::size_t add(const DnnTensor& tensor) {
    graph_.tensors.push_back(tensor);
    return graph_.tensors.size() - 1;
  }
  DnnGraph take() { return std::move(graph_); }

 private:
  DnnTensor images(int type, DnnPlace place) const {
    return {type, images_, strides_of(images_, channels_last()), place, 0};
  }
  DnnTensor in_problem(std::size_t tensor, const std::array<std::int64_t, 4>& extents) const {
    return {data_type(tensors_[tensor].type).value(), extents, strides_of(extents, channels_last()),
            DnnPlace::kProblem, tensor};
  }

  bool channels_last() const { return workload_.conv2d().layout == ImageLayout::kNhwc; }

  const Workload& workload_;
  std::vector<TensorSpec> tensors_;
  std::array<std::int64_t, 4> images_{};
  DnnGraph graph_;
};

}  // namespace

DnnGraph fused_graph(const Workload& workload) {
  Translation translation(workload);
  const bool plain = workload.epilogue.empty();
  translation.convolution(plain ? translation.output() : translation.in_registers());
  translation.pointwise(kOutput);
  return translation.take();
}

std::vector<DnnGraph> unfused_graphs(const Workload& workload) {
  Translation convolution(workload), rest(workload);
  if (workload.epilogue.empty()) throw_user("cudnn-unfused has nothing to leave unfused here");
  convolution.convolution(convolution.in_memory());
  rest.pointwise(rest.add(rest.in_memory()));
  return {convolution.take(), rest.take()};
}

}  // namespace lehr::cudnn
