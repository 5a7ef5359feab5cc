// Pure translation.
#include "tune/baseline_terms.h"

#include <vector>

namespace lehr {
namespace {

BaselineGemm baseline_of(const Gemm& gemm) {
  return {.m = gemm.m,
          .n = gemm.n,
          .k = gemm.k,
          .batch = gemm.batch,
          .transpose_a = gemm.a.layout == Layout::kColumn,
          .transpose_b = gemm.b.layout == Layout::kColumn,
          .c_column_major = gemm.c.layout == Layout::kColumn,
          .accum = gemm.accum,
          .tf32 = gemm.math == Math::kTf32,
          .fast_accumulation = gemm.math != Math::kTwoLevel};
}

BaselineConv2d baseline_of(const Conv2d& conv) {
  return {.n = conv.n,
          .c = conv.c,
          .h = conv.h,
          .w = conv.w,
          .k = conv.k,
          .r = conv.r,
          .s = conv.s,
          .groups = conv.groups,
          .stride_h = conv.stride_h,
          .stride_w = conv.stride_w,
          .dilation_h = conv.dilation_h,
          .dilation_w = conv.dilation_w,
          .pad_top = conv.pad_top,
          .pad_bottom = conv.pad_bottom,
          .pad_left = conv.pad_left,
          .pad_right = conv.pad_right,
          .out_h = conv.out_h(),
          .out_w = conv.out_w(),
          .nhwc = conv.layout == ImageLayout::kNhwc,
          .accum = conv.accum,
          .tf32 = conv.math == Math::kTf32};
}

std::vector<BaselineStep> steps_of(const Workload& workload) {
  using Op = BaselineStep::Op;
  const std::vector<EpilogueOperand> operands = operands_of(workload.epilogue);
  std::size_t operand = 0;
  const std::size_t first = tensors_of(workload).size() - operands.size();
  std::vector<BaselineStep> steps;
  const auto with_operand = [&](Op op) {
    steps.push_back({.op = op, .tensor = first + operand, .per_channel = operands[operand].per_channel});
    ++operand;
  };
  for (const EpilogueStep& step : workload.epilogue.steps) {
    switch (step.op) {
      case EpilogueOp::kBias:
      case EpilogueOp::kResidual:
        with_operand(Op::kAdd);
        break;
      case EpilogueOp::kScaleShift:
        with_operand(Op::kMultiply);
        with_operand(Op::kAdd);
        break;
      case EpilogueOp::kRelu:
        steps.push_back({.op = Op::kClamp, .low = 0});
        break;
      case EpilogueOp::kRelu6:
        steps.push_back({.op = Op::kClamp, .low = 0, .high = 6});
        break;
      case EpilogueOp::kClamp:
        steps.push_back({.op = Op::kClamp, .low = step.low, .high = step.high});
        break;
      case EpilogueOp::kGeluTanh:
        steps.push_back({.op = Op::kGeluTanh});
        break;
      case EpilogueOp::kGeluErf:
        steps.push_back({.op = Op::kGeluErf});
        break;
      case EpilogueOp::kSilu:
        steps.push_back({.op = Op::kSilu});
        break;
      case EpilogueOp::kSigmoid:
        steps.push_back({.op = Op::kSigmoid});
        break;
      case EpilogueOp::kTanh:
        steps.push_back({.op = Op::kTanh});
        break;
      case EpilogueOp::kSwiglu:
      case EpilogueOp::kGeglu:
      case EpilogueOp::kMaxPool:
      case EpilogueOp::kAvgPool:
        break;
    }
  }
  return steps;
}

}  // namespace

Problem baseline_terms(const Workload& workload) {
  Problem problem;
  if (is_gated(workload.epilogue) || window_of(workload.epilogue) > 1) return problem;
  if (workload.op() == Operator::kConv2d)
    problem.conv2d = baseline_of(workload.conv2d());
  else
    problem.gemm = baseline_of(workload.gemm());
  problem.steps = steps_of(workload);
  return problem;
}

}  // namespace lehr
