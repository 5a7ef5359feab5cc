// Tests of the schedules of conv2d_wgmma: legal by construction, which workloads it serves, and how it sees
// images and filters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analyze.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/conv2d/cuda/conv2d_wgmma.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "tests/support/sample_config.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kConvSeed = 20261122;
constexpr std::size_t kConvSamples = 3000;

Workload conv_of(const std::string& text) {
  return parse_workload("conv2d layout=nhwc " + text);
}

const std::vector<Workload>& convolutions() {
  static const std::vector<Workload> all = {
      conv_of("n=32 h=56 w=56 c=64 k=64 r=3 s=3 pad=1 x=f16 f=f16 y=f16"),
      conv_of("n=32 h=14 w=14 c=256 k=1024 r=1 s=1 x=f16 f=f16 y=f16"),
      conv_of("n=1 h=7 w=7 c=512 k=512 r=3 s=3 pad=1 x=bf16 f=bf16 y=bf16 epilogue=bias+relu"),
      conv_of("n=3 h=35 w=33 c=48 k=100 r=5 s=3 stride=2x3 pad=2x1x0x3 dilation=2x1 x=bf16 f=bf16 y=f32"),
      conv_of("n=8 h=56 w=56 c=16 k=96 r=3 s=3 stride=2 pad=1 x=e4m3 f=e4m3 y=bf16 epilogue=relu6"),
      conv_of("n=5 h=5 w=5 c=80 k=520 r=1 s=1 stride=2 x=e5m2 f=e5m2 y=f16"),
      conv_of("n=4 h=17 w=19 c=208 k=96 r=3 s=3 pad=1 x=s8 f=s8 y=s32 accum=s32"),
      conv_of("n=1 h=4 w=5 c=1024 k=2048 r=2 s=2 x=f16 f=f16 y=f16"),
      conv_of("n=8 h=27 w=29 c=36 k=100 r=3 s=3 stride=1x2 pad=1 math=tf32 epilogue=bias+relu"),
      conv_of("n=4 h=17 w=19 c=208 k=96 r=3 s=3 pad=1 x=e4m3 f=e4m3 y=bf16 math=two_level"),
      conv_of("n=8 h=33 w=33 c=256 k=256 r=3 s=3 pad=36 dilation=36 x=f16 f=f16 y=f16 epilogue=bias+relu"),
      conv_of("n=128 h=2 w=3 c=48 k=200 r=5 s=7 pad=2x3 x=bf16 f=bf16 y=bf16"),
  };
  return all;
}

TEST(Conv2dWgmmaSpace, SampledSchedulesLowerVerifyAndKeepTheStaticLimits) {
  SCOPED_TRACE(::testing::Message() << "seed " << kConvSeed);
  const Template family = conv2d_wgmma_template();
  Limits few = cuda_limits("sm_90a");
  few.cores = 3;
  Rng rng(kConvSeed);
  for (const Limits& limits : {cuda_limits("sm_90a"), few}) {
    for (const Workload& workload : convolutions()) {
      ASSERT_EQ(family.why_not(workload, limits), std::nullopt) << to_text(workload);
      EXPECT_EQ(family.space(workload, limits).why_invalid(testing::default_of(family, workload, limits)),
                std::nullopt);
      const GemmWgmmaProblem problem = gemm_wgmma_problem(workload);
      // Hardly any point for few outputs is a schedule for few multiprocessors.
      if (limits.cores == few.cores && problem.size.m <= 256) continue;
      const FamilySpace space = family.space(workload, limits);
      for (std::size_t i = 0; i < kConvSamples / (2 * convolutions().size()) + 1; ++i) {
        const auto config = testing::sample_config(space, rng);
        ASSERT_TRUE(config) << to_text(workload) << ": no schedule found";
        SCOPED_TRACE(to_text(workload) + " " + to_text(*config));
        const ir::Kernel kernel = testing::lowered(family, workload, *config, limits);
        ASSERT_EQ(ir::why_malformed(kernel), std::nullopt);
        const ir::Launch launch = ir::launch_of(kernel);
        const auto s = testing::schedule_of<gemm_wgmma_knobs>(*config, workload, limits);
        ASSERT_EQ(launch.shared_bytes, gemm_wgmma_shared_bytes(problem, s));
        ASSERT_LE(launch.shared_bytes, limits.shared_bytes_per_block);
        ASSERT_LE(s.k_atoms * problem.span, 256);
      }
    }
  }
}

TEST(Conv2dWgmma, SeesTheInputAsPixelsAndTheFiltersAsTaps) {
  const Limits limits = cuda_limits("sm_90a");
  const Workload workload = convolutions()[3];
  const Template family = conv2d_wgmma_template();
  Config config = testing::default_of(family, workload, limits);
  const ir::Kernel kernel = testing::lowered(family, workload, config, limits);
  const auto s = testing::schedule_of<gemm_wgmma_knobs>(config, workload, limits);
  const ir::TensorMap x = kernel.params[0].map.value(), f = kernel.params[1].map.value();
  using Dims = decltype(x.dims);
  EXPECT_EQ(x.dims, (Dims{48, 33, 35, 3}));
  EXPECT_EQ(x.strides, (Dims{1, 48, 33 * 48, 35 * 33 * 48}));
  // 48 channels of 2 bytes are three rows of 32 bytes; two of 64 would be a third larger.
  EXPECT_EQ(gemm_wgmma_problem(workload).span, 32);
  EXPECT_EQ(x.box[0], 16);
  // Paddings are top, bottom, left, right; corners w, h: 3 - 2 * 1 and 1 - 4 * 2 at the far end.
  EXPECT_EQ(x.im2col, (ir::Im2col{s.swap_ab == 1 ? s.bn : s.bm, {0, -2}, {1, -7}, {3, 2}}));
  EXPECT_EQ(f.dims, (Dims{48, 15, 100, 0}));
  EXPECT_FALSE(f.im2col);
}

// Three of five rows meet the image, and five of seven columns. The filters keep all of them in memory.
TEST(Conv2dWgmma, LeavesOutTapsThatOnlyMeetPadding) {
  const Limits limits = cuda_limits("sm_90a");
  const Template family = conv2d_wgmma_template();
  const Workload workload = convolutions()[11];
  const ir::Kernel kernel =
      testing::lowered(family, workload, testing::default_of(family, workload, limits), limits);
  const ir::TensorMap x = kernel.params[0].map.value(), f = kernel.params[1].map.value();
  using Dims = decltype(x.dims);
  EXPECT_EQ(gemm_wgmma_problem(workload).size.k, 48 * 3 * 5);
  EXPECT_EQ(f.dims, (Dims{48, 35, 200, 0}));
  EXPECT_EQ(kernel.buffer(kernel.params[1].buffer).elements, 200 * 35 * 48);
  EXPECT_EQ(x.im2col->lower, (decltype(x.im2col->lower){-2, -1}));
  EXPECT_EQ(x.im2col->upper, (decltype(x.im2col->upper){-2, -1}));
  // Taps that lie further from each other than a load can reach are no obstacle where they are left out.
  EXPECT_EQ(
      family.why_not(conv_of("h=20 w=20 c=64 k=32 r=3 s=3 pad=200 dilation=200 x=f16 f=f16 y=f16"), limits),
      std::nullopt);
  // One tap in the middle of nine: the filters are no matrix of their own.
  EXPECT_TRUE(
      gemm_wgmma_problem(conv_of("n=64 h=1 w=1 c=64 k=64 r=3 s=3 pad=1 x=f16 f=f16 y=f16")).gathers());
}

TEST(Conv2dWgmma, TakesInputsThatAreTheMatrixAsSuch) {
  const Limits limits = cuda_limits("sm_90a");
  const Template family = conv2d_wgmma_template();
  const Workload pointwise = convolutions()[1];
  EXPECT_FALSE(gemm_wgmma_problem(pointwise).gathers());
  const ir::Kernel kernel =
      testing::lowered(family, pointwise, testing::default_of(family, pointwise, limits), limits);
  EXPECT_FALSE(kernel.params[0].map->im2col);
  EXPECT_EQ(kernel.params[0].map->dims[1], 32 * 14 * 14);
  EXPECT_TRUE(gemm_wgmma_problem(convolutions()[5]).gathers());  // by its stride
}

TEST(Conv2dWgmma, RoundsF32ToTf32OnItsWay) {
  const Limits limits = cuda_limits("sm_90a");
  const Template family = conv2d_wgmma_template();
  const Workload workload = conv_of("h=9 w=9 c=32 k=64 r=3 s=3 math=tf32");
  const ir::Kernel kernel =
      testing::lowered(family, workload, testing::default_of(family, workload, limits), limits);
  EXPECT_TRUE(kernel.params[0].map->tf32);
  EXPECT_TRUE(kernel.params[1].map->tf32);
}

TEST(Conv2dWgmma, ComesBeforeTheGatheringFamiliesAndTensorCoresBeforeTheOthers) {
  const Limits limits = cuda_limits("sm_90a");
  const std::vector<Config> defaults = families_for(catalog(), convolutions()[0], limits).defaults;
  ASSERT_GE(defaults.size(), 2U);
  EXPECT_EQ(defaults[0].family, "conv2d_wgmma");
  const auto first = [&](const std::string& math) {
    return families_for(catalog(), conv_of("h=28 w=28 c=64 k=64 r=3 s=3 pad=1 math=" + math), limits)
        .defaults[0]
        .family;
  };
  EXPECT_EQ(first("tf32"), "conv2d_wgmma");
  EXPECT_EQ(first("3xtf32"), "conv2d_mma");
  EXPECT_EQ(first("strict"), "conv2d_winograd");
}

TEST(Conv2dWgmma, SaysWhomItDoesNotServe) {
  const Template family = conv2d_wgmma_template();
  const auto reason = [&](const std::string& text, const char* arch = "sm_90a") {
    return family.why_not(parse_workload("conv2d " + text), cuda_limits(arch)).value_or("");
  };
  const std::string f16 = "x=f16 f=f16 y=f16 layout=nhwc n=2 h=200 w=210 c=64 k=32 ";
  EXPECT_EQ(reason(f16 + "r=3 s=3"), "");
  EXPECT_THAT(reason(f16 + "r=3 s=3", "sm_90"), HasSubstr("sm_90a"));
  EXPECT_THAT(reason(f16 + "r=3 s=3 layout=nchw"), HasSubstr("nhwc images without groups"));
  EXPECT_THAT(reason(f16 + "r=3 s=3 groups=2"), HasSubstr("nhwc images without groups"));
  EXPECT_THAT(reason(f16 + "r=4 s=2 c=12"), HasSubstr("channels of a pixel have 24 bytes"));
  EXPECT_THAT(reason(f16 + "r=3 s=3 stride=1x9"), HasSubstr("strides up to 8, not 9"));
  EXPECT_EQ(reason(f16 + "r=3 s=3 stride=8"), "");
  EXPECT_THAT(reason(f16 + "r=3 s=3 pad=0x0x129x0"), HasSubstr("a corner of -129"));
  EXPECT_THAT(reason(f16 + "r=3 s=2 dilation=1x129"), HasSubstr("a corner of -129"));
  EXPECT_EQ(reason(f16 + "r=3 s=2 dilation=1x129 pad=0x0x0x1"), "");
  EXPECT_THAT(reason(f16 + "r=3 s=3 dilation=128x1 pad=127"), HasSubstr("256 pixels from the first one"));
  EXPECT_THAT(reason("layout=nhwc h=20 w=20 c=64 k=32 r=3 s=3"), HasSubstr("math=strict does not permit"));
  EXPECT_EQ(reason("layout=nhwc h=20 w=20 c=64 k=32 r=3 s=3 math=tf32"), "");
  EXPECT_THAT(reason("layout=nhwc h=20 w=20 c=64 k=32 r=3 s=3 math=3xtf32"),
              HasSubstr("math=3xtf32 does not permit"));
}

}  // namespace
}  // namespace lehr
