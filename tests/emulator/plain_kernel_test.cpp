// Compares the plain kernel in f64 with the host's reference, for random workloads (tests/support/seed.h) and
// for special ones. All bands or some of them are computed, in any order.
#include "templates/reference/plain_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "codegen/emit.h"
#include "target/cuda/archs.h"
#include "tests/emulator/program.h"
#include "tests/emulator/random_workloads.h"
#include "tests/support/make_reference.h"
#include "tests/support/seed.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

std::uint64_t random_seed() {
  return testing::test_seed(1);
}

/// A kernel to lower, and the bands that it computes.
struct Case {
  Workload workload;
  PlainKernel plain;
  std::vector<float> bands;
};

/// Returns all bands in random order, or about half of them, but at least one.
Case case_of(const Workload& workload, Rng& rng) {
  Case result{workload, plain_kernel(workload, cuda_limits("sm_90a")).value(), {}};
  result.bands.resize(static_cast<std::size_t>(result.plain.bands));
  std::iota(result.bands.begin(), result.bands.end(), 0.0F);
  for (std::size_t i = result.bands.size(); i > 1; --i)
    std::swap(result.bands[i - 1], result.bands[rng.below(i)]);
  if (rng.below(2) == 0) result.bands.resize((result.bands.size() + 1) / 2);
  return result;
}

Source source_of(const Case& each) {
  Source source = emit(each.plain.kernel);
  source.launch.grid[1] = source.params.back().elements = static_cast<std::int64_t>(each.bands.size());
  return source;
}

/// Returns the band of an element of the output, computed from the contract of PlainKernel.
std::int64_t band_of(const Case& each, std::int64_t element) {
  const PlainKernel& plain = each.plain;
  std::int64_t matrix = 0, row = 0;
  if (each.workload.op() == Operator::kGemm) {
    const Gemm& gemm = each.workload.gemm();
    const std::int64_t columns = output_columns(gemm, each.workload.epilogue);
    matrix = element / (gemm.m * columns);
    row = gemm.c.layout == Layout::kRow ? element / columns % gemm.m : element % gemm.m;
  } else {
    const Conv2d& conv = each.workload.conv2d();
    const ImageSize size = output_size(conv, each.workload.epilogue);
    const std::int64_t pixels = size.height * size.width;
    row = conv.layout == ImageLayout::kNhwc ? element / conv.k
                                            : element / (conv.k * pixels) * pixels + element % pixels;
  }
  const std::int64_t matrices = each.workload.op() == Operator::kGemm ? each.workload.gemm().batch : 1;
  return matrix * (plain.bands / matrices) + row / plain.band_rows;
}

void expect_reference(const Case& each, const std::vector<std::vector<float>>& inputs,
                      const std::vector<float>& found) {
  const std::vector<float> expected = make_reference(each.workload, inputs, HUGE_VAL).values;
  ASSERT_EQ(found.size(), expected.size());
  const std::set<float> bands(each.bands.begin(), each.bands.end());
  double largest = 0;
  for (const float value : expected) largest = std::max(largest, std::abs(static_cast<double>(value)));
  std::int64_t computed = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::int64_t band = band_of(each, static_cast<std::int64_t>(i));
    if (!bands.contains(static_cast<float>(band))) {
      ASSERT_TRUE(std::isnan(found[i]))
          << "element " << i << " of band " << band << ", which was not asked for";
      continue;
    }
    ++computed;
    ASSERT_NEAR(found[i], expected[i], 1.2e-7 * std::abs(expected[i]) + 1e-11 * largest) << "element " << i;
  }
  EXPECT_GT(computed, 0);
}

void run(const std::vector<Case>& cases) {
  std::vector<Source> sources;
  for (const Case& each : cases) {
    ASSERT_EQ(ir::why_malformed(each.plain.kernel), std::nullopt) << to_text(each.workload);
    sources.push_back(source_of(each));
  }
  const emulator::Program program(sources);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << "number " << i << ": " << to_text(cases[i].workload));
    const std::vector<std::vector<float>> inputs = make_inputs(cases[i].workload, random_seed() + i);
    std::vector<std::vector<float>> arguments;
    const std::vector<TensorSpec> tensors = tensors_of(cases[i].workload);
    for (std::size_t t = 0; t < tensors.size(); ++t)
      if (!tensors[t].is_output()) arguments.push_back(inputs[t]);
    arguments.push_back(cases[i].bands);
    const emulator::Result result = program.run(i, arguments, emulator::rotated(random_seed() + i));
    EXPECT_FALSE(result.fault) << *result.fault;
    if (!result.fault) expect_reference(cases[i], inputs, result.outputs.at(0));
  }
}

class PlainKernels : public ::testing::TestWithParam<Operator> {};

TEST_P(PlainKernels, AreTheReferenceOfRandomWorkloads) {
  SCOPED_TRACE(::testing::Message() << "LEHR_TEST_SEED=" << random_seed());
  constexpr std::size_t kWorkloads = 24;
  Rng rng = Rng(random_seed()).fork(GetParam() == Operator::kGemm ? "gemm" : "conv2d");
  std::vector<Case> cases;
  while (cases.size() < kWorkloads) {
    const Workload workload = testing::random_workload(GetParam(), rng);
    if (plain_kernel(workload, cuda_limits("sm_90a"))) cases.push_back(case_of(workload, rng));
  }
  run(cases);
}

INSTANTIATE_TEST_SUITE_P(Operators, PlainKernels, ::testing::Values(Operator::kGemm, Operator::kConv2d),
                         [](const auto& info) { return info.param == Operator::kGemm ? "gemm" : "conv2d"; });

TEST(PlainKernel, IsTheReferenceWhereShapesAndTypesAreUnusual) {
  SCOPED_TRACE(::testing::Message() << "LEHR_TEST_SEED=" << random_seed());
  Rng rng = Rng(random_seed()).fork("unusual");
  std::vector<Case> cases;
  for (const char* const text :
       {"gemm m=1 n=1 k=1", "gemm m=1 n=70 k=33 batch=5 alpha=-3e20",
        "gemm m=200 n=1 k=17 batch=2 alpha=1e-20", "gemm m=65 n=8 k=16 c=f32:column",
        "gemm m=16 n=9 k=5 epilogue=bias+gelu_erf+residual",
        "gemm m=70 n=2 k=40 batch=2 epilogue=bias+swiglu", "gemm m=17 n=130 k=48 epilogue=tanh+geglu",
        "gemm m=40 n=66 k=33 a=u8 b=u8 c=s32 accum=s32",
        "gemm m=40 n=66 k=33 a=f64 b=f64:column c=f64 accum=f64",
        "gemm m=40 n=66 k=33 a=f16 b=bf16:column c=bf16:column epilogue=scale_shift+residual+clamp(-1,2.5)",
        "conv2d h=1 w=1 c=1 k=1 r=1 s=1",
        "conv2d n=2 h=9 w=11 c=4 k=6 r=3 s=3 pad=1 epilogue=bias+relu+maxpool(3,2,1)",
        "conv2d n=2 h=9 w=11 c=4 k=70 r=3 s=3 pad=1 layout=nhwc epilogue=bias+relu+maxpool(3,2,0,1)",
        "conv2d n=2 h=9 w=11 c=6 k=4 r=3 s=2 groups=2 epilogue=sigmoid+avgpool(3,2)",
        "conv2d h=3 w=4 c=2 k=3 r=5 s=5 stride=4 pad=4 dilation=2 layout=nhwc",
        "conv2d n=3 h=12 w=13 c=20 k=20 r=3 s=3 stride=2 pad=1 groups=20 layout=nhwc x=bf16 f=bf16 y=bf16 "
        "epilogue=bias+relu6",
        "conv2d n=2 h=9 w=21 c=4 k=40 r=2 s=5 stride=3x1 pad=0x2x1x4 dilation=2x1 groups=2 "
        "epilogue=scale_shift+residual+hard_swish"})
    cases.push_back(case_of(parse_workload(text), rng));
  run(cases);
}

TEST(PlainKernel, IsThereWhereTheDeviceHasGridsAndConvertsTheTypes) {
  const Workload plain = parse_workload("gemm m=64 n=64 k=64"),
                 small = parse_workload("gemm m=64 n=64 k=64 a=e4m3 b=e4m3");
  EXPECT_TRUE(plain_kernel(plain, cuda_limits("sm_75")));
  EXPECT_FALSE(plain_kernel(plain, {.target = Target::kCpu, .arch = "avx2"}));
  EXPECT_FALSE(plain_kernel(small, cuda_limits("sm_80")));
  EXPECT_TRUE(plain_kernel(small, cuda_limits("sm_89")));
  EXPECT_FALSE(plain_kernel(parse_workload("conv2d h=9 w=9 c=1 k=1 r=1 s=1 stride=2147483000 pad=2147483000"),
                            cuda_limits("sm_90a")));
}

TEST(PlainKernel, SaysWhatABandHolds) {
  const PlainKernel square =
      plain_kernel(parse_workload("gemm m=256 n=128 k=64 batch=3"), cuda_limits("sm_80")).value();
  EXPECT_EQ(square.bands * square.band_rows, 3 * 256);
}

}  // namespace
}  // namespace lehr
