// A workload in the terms of the vendor libraries.
#include "tune/baseline_terms.h"

#include <gtest/gtest.h>

namespace lehr {
namespace {

using Op = BaselineStep::Op;

TEST(BaselineTerms, OfAConvolutionHaveItsTypesAndItsSteps) {
  const Workload workload = parse_workload(
      "conv2d n=2 h=9 w=8 c=6 k=4 r=3 s=2 stride=2x1 pad=1x0x2x1 groups=2 layout=nhwc x=f16 f=f16 y=f16 "
      "epilogue=scale_shift+residual+relu6");
  const Problem problem = baseline_terms(workload);
  ASSERT_TRUE(problem.conv2d.has_value());
  EXPECT_FALSE(problem.gemm.has_value());
  const BaselineConv2d& conv = *problem.conv2d;
  EXPECT_TRUE(conv.nhwc);
  EXPECT_EQ(conv.pad_left, 2);
  EXPECT_EQ(conv.out_h, 4);
  EXPECT_EQ(conv.out_w, 10);
  // Tensors 0 to 2 are the input, the filter and the output.
  EXPECT_EQ(problem.steps, (std::vector<BaselineStep>{{.op = Op::kMultiply, .tensor = 3, .per_channel = true},
                                                      {.op = Op::kAdd, .tensor = 4, .per_channel = true},
                                                      {.op = Op::kAdd, .tensor = 5},
                                                      {.op = Op::kClamp, .low = 0, .high = 6}}));
}

TEST(BaselineTerms, PermitTf32WhereTheConvolutionDoes) {
  const std::string text = "conv2d h=8 w=8 c=4 k=4 r=3 s=3";
  EXPECT_FALSE(baseline_terms(parse_workload(text)).conv2d->tf32);
  EXPECT_FALSE(baseline_terms(parse_workload(text + " math=3xtf32")).conv2d->tf32);
  EXPECT_TRUE(baseline_terms(parse_workload(text + " math=tf32")).conv2d->tf32);
}

TEST(BaselineTerms, OfAConvolutionHaveTheTypeOfItsSums) {
  const Workload workload = parse_workload("conv2d h=4 w=4 c=4 k=4 r=1 s=1 x=s8 f=s8 y=s32 accum=s32");
  EXPECT_EQ(baseline_terms(workload).conv2d->accum, DType::kS32);
}

TEST(BaselineTerms, OfAProductHaveEveryStep) {
  const Problem problem = baseline_terms(
      parse_workload("gemm m=4 n=6 k=8 epilogue=bias+relu+clamp(-1,2)+gelu_tanh+gelu_erf+silu+sigmoid+tanh"));
  ASSERT_TRUE(problem.gemm.has_value());
  std::vector<Op> ops;
  for (const BaselineStep& step : problem.steps) ops.push_back(step.op);
  EXPECT_EQ(ops, (std::vector<Op>{Op::kAdd, Op::kClamp, Op::kClamp, Op::kGeluTanh, Op::kGeluErf, Op::kSilu,
                                  Op::kSigmoid, Op::kTanh}));
  EXPECT_EQ(problem.steps[1].low, 0);
  EXPECT_EQ(problem.steps[1].high, BaselineStep().high);
  EXPECT_EQ(problem.steps[2].low, -1);
}

TEST(BaselineTerms, OfAGatedProductAreNone) {
  const Problem problem = baseline_terms(parse_workload("gemm m=4 n=6 k=8 epilogue=swiglu"));
  EXPECT_FALSE(problem.gemm || problem.conv2d || !problem.steps.empty());
}

}  // namespace
}  // namespace lehr
