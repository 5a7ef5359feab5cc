// Numbers of enumerators: cudnn_graph.h of cuDNN 9 (cudnnDataType_t, cudnnPointwiseMode_t).
#include "measure/cudnn_graph.h"

#include "base/error.h"

namespace lehr {
namespace {

/// cudnnDataType_t; nullopt where the library has no such tensor.
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

/// cudnnPointwiseMode_t. A clamp is a ReLU with bounds.
int mode_of(BaselineStep::Op op) {
  switch (op) {
    case BaselineStep::Op::kAdd:
      return 0;  // CUDNN_POINTWISE_ADD
    case BaselineStep::Op::kMultiply:
      return 1;  // CUDNN_POINTWISE_MUL
    case BaselineStep::Op::kClamp:
      return 100;  // CUDNN_POINTWISE_RELU_FWD
    case BaselineStep::Op::kTanh:
      return 101;  // CUDNN_POINTWISE_TANH_FWD
    case BaselineStep::Op::kSigmoid:
      return 102;  // CUDNN_POINTWISE_SIGMOID_FWD
    case BaselineStep::Op::kGeluErf:
      return 104;  // CUDNN_POINTWISE_GELU_FWD
    case BaselineStep::Op::kSilu:
      return 106;  // CUDNN_POINTWISE_SWISH_FWD, whose beta is 1
    case BaselineStep::Op::kGeluTanh:
      return 107;  // CUDNN_POINTWISE_GELU_APPROX_TANH_FWD
  }
  return 0;
}

std::array<std::int64_t, 4> strides_of(const std::array<std::int64_t, 4>& extents, bool channels_last) {
  const auto [n, c, h, w] = extents;
  if (channels_last) return {h * w * c, 1, w * c, c};
  return {c * h * w, h * w, w, 1};
}

constexpr std::size_t kInput = 0, kFilter = 1, kOutput = 2;

class Translation {
 public:
  explicit Translation(const Problem& problem) : problem_(problem) {
    if (!problem.conv2d) throw_user("cudnn is asked for convolutions only");
    for (const ProblemTensor& tensor : problem.tensors)
      if (!data_type(tensor.type)) throw_user("cudnn has no call for {} operands", name_of(tensor.type));
    CHECK(problem.tensors.size() >= 3 && problem.tensors[kOutput].output);
    const BaselineConv2d& conv = *problem.conv2d;
    graph_.math = data_type(conv.accum).value();
    images_ = {conv.n, conv.k, conv.out_h, conv.out_w};
  }

  void convolution(DnnTensor sums) {
    const BaselineConv2d& c = *problem_.conv2d;
    add(in_problem(kInput, {c.n, c.c, c.h, c.w}));
    add(in_problem(kFilter, {c.k, c.c / c.groups, c.r, c.s}));
    add(sums);
    graph_.convolution = {.before = {c.pad_top, c.pad_left},
                          .after = {c.pad_bottom, c.pad_right},
                          .strides = {c.stride_h, c.stride_w},
                          .dilations = {c.dilation_h, c.dilation_w},
                          .compute = graph_.math};
  }

  /// The steps, from tensor `x` of the graph to the problem's output.
  void pointwise(std::size_t x) {
    for (std::size_t i = 0; i < problem_.steps.size(); ++i) {
      const BaselineStep& step = problem_.steps[i];
      DnnPointwise operation = {.mode = mode_of(step.op), .x = x};
      // With its own bounds the library has more engines for it.
      if (step.op == BaselineStep::Op::kClamp && step.low != 0) operation.low = step.low;
      if (step.op == BaselineStep::Op::kClamp && step.high < BaselineStep().high) operation.high = step.high;
      if (step.op == BaselineStep::Op::kAdd || step.op == BaselineStep::Op::kMultiply)
        operation.b = add(in_problem(
            step.tensor, step.per_channel ? std::array<std::int64_t, 4>{1, images_[1], 1, 1} : images_));
      x = operation.y = add(i + 1 == problem_.steps.size() ? output() : in_registers());
      graph_.pointwise.push_back(operation);
    }
  }

  DnnTensor output() const { return in_problem(kOutput, images_); }
  DnnTensor in_registers() const { return images(graph_.math, DnnPlace::kVirtual); }
  DnnTensor in_memory() const {
    return images(data_type(problem_.tensors[kOutput].type).value(), DnnPlace::kIntermediate);
  }
  std::size_t add(const DnnTensor& tensor) {
    graph_.tensors.push_back(tensor);
    return graph_.tensors.size() - 1;
  }
  DnnGraph take() { return std::move(graph_); }

 private:
  DnnTensor images(int type, DnnPlace place) const {
    return {type, images_, strides_of(images_, problem_.conv2d->nhwc), place, 0};
  }
  DnnTensor in_problem(std::size_t tensor, const std::array<std::int64_t, 4>& extents) const {
    return {data_type(problem_.tensors[tensor].type).value(), extents,
            strides_of(extents, problem_.conv2d->nhwc), DnnPlace::kProblem, tensor};
  }

  const Problem& problem_;
  std::array<std::int64_t, 4> images_{};
  DnnGraph graph_;
};

}  // namespace

DnnGraph fused_graph(const Problem& problem) {
  Translation translation(problem);
  const bool plain = problem.steps.empty();
  translation.convolution(plain ? translation.output() : translation.in_registers());
  translation.pointwise(kOutput);
  return translation.take();
}

std::vector<DnnGraph> unfused_graphs(const Problem& problem) {
  Translation convolution(problem), rest(problem);
  if (problem.steps.empty()) throw_user("cudnn-unfused has nothing to leave unfused here");
  convolution.convolution(convolution.in_memory());
  rest.pointwise(rest.add(rest.in_memory()));
  return {convolution.take(), rest.take()};
}

}  // namespace lehr
