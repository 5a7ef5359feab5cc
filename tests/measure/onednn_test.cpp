// Compares the oneDNN baseline with our reference, on problems as a session poses them. Whichever version is
// found is called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "measure/vendor/onednn/baseline_onednn.h"
#include "measure/vendor/onednn/onednn_library.h"
#include "tests/support/make_reference.h"
#include "tests/support/problem_for.h"

namespace lehr {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// Returns a problem. Integers get weights that are even and below 32: without instructions for u8 by s8
/// oneDNN halves those of s8 by s8 and adds two products in 16 bits, which is right for such weights.
Problem easy_problem(const Workload& workload) {
  Problem problem = asked_problem(workload, 3);
  std::vector<std::vector<float>> inputs = make_inputs(workload, problem.seed);
  for (float& weight : inputs[1]) weight = 2 * std::trunc(weight / 8);
  const Reference reference = make_reference(workload, inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    problem.arguments[i].values = elements_of(problem.arguments[i].type, inputs[i]);
  Argument& output = output_argument(problem);
  output.indices = reference.indices;
  output.expected = elements_of(output.expected_as, reference.values);
  output.absolute = reference.tolerance;
  return problem;
}

/// Expects that `texts`, one after the other, agree with the reference, and that the algorithm that the
/// library ran is one of `ways`. A workload for which it has no kernel on this processor is left out.
void expect_agreement(std::initializer_list<const char*> texts, const testing::Matcher<std::string>& ways) {
  int run = 0;
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    const std::unique_ptr<Runner> runner = onednn::kLibrary.baselines[0].make_runner();
    try {
      const Workload workload = parse_workload(text);
      runner->prepare(accum_of(workload) == DType::kS32 ? easy_problem(workload) : problem_for(workload, 3),
                      RunSettings{});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kEnvironment) FAIL() << error.what();
      fmt::print("left out: {}\n", error.what());
      continue;
    }
    ++run;
    const auto checked = runner->check(0);
    ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
    EXPECT_THAT(std::get<Checked>(checked).note, ways);
    const auto samples = runner->time(0, {.sample_us = 10, .min_samples = 3, .min_total_us = 100});
    ASSERT_TRUE(std::holds_alternative<Samples>(samples));
    EXPECT_GT(std::get<Samples>(samples).us.at(0), 0);
  }
  if (run == 0) GTEST_SKIP() << "none of these runs here";
}

const testing::Matcher<std::string> kConvolution =
    MatchesRegex("oneDNN [0-9.]+: (plain|blocked) (direct|winograd), .+");
const testing::Matcher<std::string> kPacked =
    MatchesRegex("oneDNN [0-9.]+: packed (matmul|inner product), .+");
const testing::Matcher<std::string> kProduct =
    MatchesRegex("oneDNN [0-9.]+: (packed )?(matmul|inner product), .+");
const testing::Matcher<std::string> kSgemm = MatchesRegex("oneDNN [0-9.]+: sgemm");

TEST(OneDnnConv2d, AgreesWithTheReferenceAndSaysWhatItRan) {
  expect_agreement(
      {"conv2d h=7 w=9 c=5 k=7 r=3 s=3 pad=1", "conv2d n=2 h=11 w=13 c=3 k=10 r=7 s=7 stride=2 pad=3",
       "conv2d h=9 w=21 c=2 k=3 r=2 s=5 stride=3x1 pad=0x2x1x4 dilation=2x1",
       "conv2d n=2 h=10 w=10 c=12 k=18 r=3 s=3 pad=1 groups=3",
       "conv2d h=13 w=12 c=16 k=16 r=3 s=3 stride=2 pad=1 groups=16",
       "conv2d n=2 h=8 w=6 c=4 k=6 r=3 s=3 pad=1 layout=nhwc",
       "conv2d n=2 h=8 w=6 c=4 k=6 r=3 s=3 pad=1 groups=2 layout=nhwc",
       "conv2d h=28 w=28 c=32 k=32 r=3 s=3 pad=1"},
      kConvolution);
}

TEST(OneDnnConstantB, AgreesWithTheReferenceAndSaysWhatItRan) {
  expect_agreement({"gemm m=7 n=33 k=50 b=f32:row:constant", "gemm m=1 n=130 k=65 b=f32:column:constant",
                    "gemm m=64 n=96 k=128 a=f32:column b=f32:row:constant alpha=-0.5",
                    "gemm m=5 n=17 k=9 batch=3 b=f32:column:constant",
                    "gemm m=12 n=40 k=20 b=f32:row:constant c=f32:column"},
                   AnyOf(kPacked, kSgemm));
}

TEST(OneDnnGemm, AgreesWithTheReference) {
  expect_agreement({"gemm m=7 n=33 k=50 alpha=-0.5", "gemm m=1 n=130 k=65 a=f32:column",
                    "gemm m=5 n=17 k=9 batch=3 b=f32:column", "gemm m=12 n=40 k=20 c=f32:column"},
                   AnyOf(kProduct, kSgemm));
}

TEST(OneDnnBf16, AgreesWithTheReferenceAndSaysWhatItRan) {
  expect_agreement({"gemm m=7 n=33 k=50 a=bf16 b=bf16 c=bf16", "gemm m=64 n=96 k=128 a=bf16 b=bf16 c=f32",
                    "gemm m=1 n=130 k=65 a=bf16 b=bf16:column:constant c=bf16",
                    "gemm m=65 n=31 k=129 a=bf16 b=bf16:row:constant c=f32",
                    "gemm m=5 n=17 k=9 batch=3 a=bf16 b=bf16:column:constant c=f32"},
                   kProduct);
  expect_agreement({"conv2d h=7 w=9 c=5 k=7 r=3 s=3 pad=1 x=bf16 f=bf16 y=bf16",
                    "conv2d n=2 h=11 w=13 c=3 k=10 r=7 s=7 stride=2 pad=3 x=bf16 f=bf16 y=f32",
                    "conv2d n=2 h=8 w=6 c=4 k=6 r=3 s=3 pad=1 x=bf16 f=bf16 y=bf16 layout=nhwc",
                    "conv2d h=13 w=12 c=16 k=16 r=3 s=3 pad=1 groups=16 x=bf16 f=bf16 y=bf16"},
                   kConvolution);
}

TEST(OneDnnInt8, GivesTheVerySums) {
  expect_agreement(
      {"gemm m=7 n=33 k=50 a=u8 b=s8 c=s32 accum=s32", "gemm m=64 n=96 k=128 a=s8 b=s8 c=s32 accum=s32",
       "gemm m=1 n=130 k=65 a=u8 b=s8:column:constant c=s32 accum=s32",
       "gemm m=65 n=31 k=129 a=s8 b=s8:row:constant c=s32 accum=s32",
       "gemm m=5 n=17 k=9 batch=3 a=u8 b=s8:column:constant c=s32 accum=s32"},
      kProduct);
  expect_agreement({"conv2d h=7 w=9 c=5 k=7 r=3 s=3 pad=1 x=u8 f=s8 y=s32 accum=s32",
                    "conv2d n=2 h=11 w=13 c=3 k=10 r=7 s=7 stride=2 pad=3 x=u8 f=s8 y=s32 accum=s32",
                    "conv2d n=2 h=8 w=6 c=4 k=6 r=3 s=3 pad=1 x=u8 f=s8 y=s32 accum=s32 layout=nhwc",
                    "conv2d h=13 w=12 c=16 k=16 r=3 s=3 pad=1 groups=16 x=u8 f=s8 y=s32 accum=s32",
                    "conv2d h=14 w=14 c=64 k=64 r=3 s=3 pad=1 x=u8 f=s8 y=s32 accum=s32 layout=nhwc"},
                   kConvolution);
}

// Tests scales of channels, biases, steps between, and scales and zero points of the output.
TEST(OneDnnInt8, ScalesAndQuantizesAsAsked) {
  expect_agreement(
      {"gemm m=7 n=33 k=50 a=u8 b=s8 c=s32 accum=s32 zero=input",
       "gemm m=9 n=40 k=70 a=u8 b=s8:row:constant c=s32 accum=s32 epilogue=bias",
       "gemm m=9 n=40 k=70 a=u8 b=s8:row:constant c=f32 accum=s32 zero=input epilogue=dequant",
       "gemm m=1 n=130 k=65 a=s8 b=s8:column:constant c=f32 accum=s32 epilogue=bias+dequant+relu",
       "gemm m=64 n=96 k=128 a=u8 b=s8:row:constant c=u8 accum=s32 zero=input "
       "epilogue=dequant+bias+clamp(-1,6)+quant",
       "gemm m=65 n=31 k=129 a=u8 b=s8 c=s8 accum=s32 epilogue=dequant+bias+residual+quant",
       "gemm m=5 n=17 k=9 batch=3 a=u8 b=s8:column:constant c=u8 accum=s32 zero=input "
       "epilogue=bias+dequant+leaky_relu(0.1)+quant"},
      kProduct);
  expect_agreement(
      {"conv2d h=7 w=9 c=5 k=7 r=3 s=3 pad=1 x=u8 f=s8 y=s32 accum=s32 zero=input",
       "conv2d h=14 w=14 c=64 k=64 r=3 s=3 pad=1 x=u8 f=s8 y=u8 accum=s32 zero=input layout=nhwc "
       "epilogue=bias+dequant+relu+quant",
       "conv2d n=2 h=11 w=13 c=3 k=10 r=7 s=7 stride=2 pad=3 x=u8 f=s8 y=u8 accum=s32 "
       "epilogue=dequant+bias+relu6+quant",
       "conv2d n=2 h=8 w=6 c=4 k=6 r=3 s=3 pad=1 groups=2 x=u8 f=s8 y=f32 accum=s32 zero=input "
       "epilogue=dequant+bias",
       "conv2d n=2 h=8 w=6 c=16 k=32 r=1 s=1 x=s8 f=s8 y=s8 accum=s32 layout=nhwc "
       "epilogue=dequant+bias+residual+relu+quant"},
      kConvolution);
}

/// Returns a row expression of x, and of what `more` says.
std::string rows_of(const std::string& expression, const std::string& more = "",
                    const std::string& type = "f32") {
  return "rowwise m=9 n=133 in=x:" + type + more + " out=y:" + type + " expr=" + expression;
}

void expect_rows(std::initializer_list<std::string> texts, const char* way) {
  for (const std::string& text : texts)
    expect_agreement({text.c_str()}, MatchesRegex(std::string("oneDNN [0-9.]+: ") + way + ", .+"));
}

// A softmax in bf16 is left out: versions that round its exponents, too, fail the check.
TEST(OneDnnRows, AreFoundHoweverTheyAreWritten) {
  expect_rows({rows_of("y=exp(x-max(x))/sum(exp(x-max(x)))"), rows_of("e=exp(x-max(x));y=e*(1/sum(e))"),
               rows_of("e=exp(x-max(x));y=1/sum(e)*e")},
              "softmax");
  expect_rows({rows_of("z=x-max(x);y=z-log(sum(exp(z)))"), rows_of("z=max(x);y=x-(z+log(sum(exp(x-z))))")},
              "logsoftmax");
  const std::string both = ",g:f32:column,b:f32:column";
  expect_rows(
      {rows_of("y=(x-mean(x))*rsqrt(var(x)+1e-5)"), rows_of("y=(x-mean(x))/sqrt(var(x)+1e-5)*g+b", both),
       rows_of("d=x-mean(x);y=b+g*(d*(1/sqrt(1e-5+mean(d*d))))", both),
       rows_of("y=(x-mean(x))*(g*rsqrt(var(x)+1e-3))", ",g:f32:column"),
       rows_of("y=(x-mean(x))*rsqrt(var(x)+1e-3)+b", ",b:f32:column"),
       rows_of("y=(x-mean(x))*rsqrt(var(x)+1e-5)*g+b", both, "bf16")},
      "layer normalization");
  expect_rows(
      {rows_of("y=exp(x)"), rows_of("y=abs(x)"), rows_of("y=tanh(x)"), rows_of("y=sigmoid(x)"),
       rows_of("y=1/(1+exp(-x))"), rows_of("y=silu(x)"), rows_of("y=x/(exp(-x)+1)"),
       rows_of("y=x*sigmoid(x)"), rows_of("y=gelu_tanh(x)"), rows_of("y=gelu_erf(x)"), rows_of("y=max(x,0)"),
       rows_of("y=relu6(x)"), rows_of("y=clamp(x,-1,0.5)"), rows_of("y=leaky_relu(x,0.1)"),
       rows_of("y=hard_swish(x)"), rows_of("y=gelu_erf(x)", "", "bf16")},
      "eltwise");
}

std::string refusal_of(const char* text) {
  try {
    onednn::kLibrary.baselines[0].make_runner()->prepare(problem_for(parse_workload(text), 3), RunSettings{});
  } catch (const Error& error) {
    return error.what();
  }
  return "prepared";
}

/// Returns the instruction set as the library calls it; "" if the library cannot be loaded.
std::string instruction_set() {
  try {
    return onednn::open_library().instruction_set();
  } catch (const Error&) {
    return "";
  }
}

// Without instructions for u8 by s8 it adds two products in 16 bits, and halves the weights of a convolution
// of s8 before. The sums are other ones then.
TEST(OneDnnInt8, IsNotTimedWhereItsSumsAreOthers) {
  const std::string isa = instruction_set();
  if (isa.empty()) GTEST_SKIP() << "oneDNN is not installed";
  for (const char* text : {"conv2d h=14 w=14 c=64 k=64 r=3 s=3 pad=1 x=u8 f=s8 y=s32 accum=s32 layout=nhwc",
                           "conv2d h=14 w=14 c=64 k=64 r=3 s=3 pad=1 x=s8 f=s8 y=s32 accum=s32",
                           "conv2d h=14 w=14 c=64 k=64 r=3 s=3 pad=1 x=s8 f=s8 y=s32 accum=s32 layout=nhwc"})
    EXPECT_EQ(refusal_of(text), isa == "avx2" || isa == "avx512_core"
                                    ? "none of onednn's ways to compute this gives the right result here"
                                    : "prepared");
}

TEST(OneDnn, IsNotAskedForEveryEpilogue) {
  const std::string gemm = "gemm m=4 n=4 k=4 a=u8 b=s8 accum=s32 ";
  EXPECT_EQ(refusal_of((gemm + "c=u8 epilogue=dequant+residual(u8)+quant").c_str()),
            "onednn is not asked for 'residual(u8)' in epilogue=dequant+residual(u8)+quant");
  EXPECT_EQ(refusal_of((gemm + "c=f32 epilogue=dequant+relu+bias").c_str()),
            "onednn is not asked for 'bias' in epilogue=dequant+relu+bias");
  EXPECT_EQ(refusal_of("gemm m=4 n=4 k=4 epilogue=relu"), "onednn has no call that computes this problem");
}

TEST(OneDnn, IsAskedForWhatAPrimitiveComputesAlone) {
  const std::string none =
      "onednn has no primitive that computes this expression: it is asked for softmax and its logarithm, for "
      "layer normalization with a scale and a shift of f32, and for single functions of elements";
  for (const std::string& text :
       {rows_of("y=exp(x)/sum(exp(x))"), rows_of("y=x-log(sum(exp(x)))"),
        rows_of("y=exp(x-max(x))/sum(exp(x))"), rows_of("e=exp(x-max(x));y=2*e/sum(e)"),
        rows_of("z=2*x;e=exp(z-max(z));y=e/sum(e)"), rows_of("y=x-max(x)-log(sum(exp(x)))"),
        rows_of("y=(x-mean(x))*rsqrt(var(x+1)+1e-5)"), rows_of("y=x*rsqrt(mean(x*x)+1e-5)"),
        rows_of("y=(x-mean(x))*rsqrt(var(x)+1e-5)+b", ",b:f32"),
        rows_of("y=(x-mean(x))*rsqrt(var(x)+1e-5)/g", ",g:f32:column"),
        rows_of("y=(x-mean(x))*rsqrt(var(x)+1e-5)*g", ",g:bf16:column"), rows_of("y=gelu_erf(x+x)"),
        std::string("rowwise m=9 n=4 in=x:f32:row out=y:f32 expr=y=exp(x)"),
        std::string("rowwise m=9 n=4 in=x:f32 out=s:f32,y:f32 expr=s=exp(x);y=exp(x)")})
    EXPECT_EQ(refusal_of(text.c_str()), none) << text;
  // Products of products are not written out.
  std::string squares = "a=x*x";
  for (char name = 'a'; name < 'v'; ++name) squares += fmt::format(";{0}={1}*{1}", char(name + 1), name);
  EXPECT_EQ(refusal_of(rows_of(squares + ";y=v*v").c_str()), none);
}

TEST(OneDnn, IsForThreeKindsOfTypes) {
  const std::string served =
      "onednn is called for f32, for bf16 with sums in f32, and for u8 or s8 by s8 with sums in s32, not "
      "for ";
  EXPECT_EQ(refusal_of("conv2d h=4 w=4 c=2 k=2 r=1 s=1 x=f16 f=f16 y=f16"),
            served + "f16 with sums in f32 and an output of f16");
  EXPECT_EQ(refusal_of("gemm m=4 n=4 k=4 a=f32 b=bf16"),
            served + "f32 x bf16 with sums in f32 and an output of f32");
}

// Its reference implementation is not timed.
TEST(OneDnn, SaysWhenItHasNoKernelOfTheTypeForTheProcessor) {
  const std::string isa = instruction_set();
  if (isa != "avx2") GTEST_SKIP() << "for '" << isa << "' it may have some";
  EXPECT_THAT(refusal_of("gemm m=4 n=4 k=4 a=bf16 b=bf16 c=bf16"),
              MatchesRegex("oneDNN .+ has no bf16 kernel for this problem on this processor"));
}

TEST(OneDnn, IsDescribedByItsVersionAndInstructionSet) {
  try {
    EXPECT_THAT(onednn::kLibrary.describe({}),
                MatchesRegex("[23][.][0-9.]+, [a-z0-9_]+: it takes part in the finals"));
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("oneDNN is not installed"));
  }
}

}  // namespace
}  // namespace lehr
