// Tests of the schedules of conv2d_winograd: legal by construction, and which workloads the family serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda_space_checks.h"
#include "ir/analyze.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/conv2d/cuda/conv2d_winograd.h"
#include "templates/conv2d/cuda/conv2d_winograd_space.h"
#include "templates/family.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list;
    for (const char* const text :
         {"h=3 w=3 c=1 k=1 r=3 s=3", "h=7 w=9 c=5 k=7 r=3 s=3 pad=1", "h=56 w=56 c=64 k=64 r=3 s=3 pad=1",
          "h=14 w=14 c=256 k=256 r=3 s=3 pad=1", "h=7 w=7 c=512 k=512 r=3 s=3 pad=1",
          "n=32 h=28 w=28 c=128 k=128 r=3 s=3 pad=1 layout=nhwc",
          "n=3 h=33 w=35 c=30 k=50 r=3 s=3 pad=2x0x1x1 layout=nhwc epilogue=scale_shift+residual+relu"})
      list.push_back(parse_workload(std::string("conv2d ") + text));
    return list;
  }();
  return all;
}

TEST(WinogradCudaSpace, TenThousandSampledSchedulesLowerVerifyAndKeepTheStaticLimits) {
  lehr::testing::expect_legal_schedules(
      conv2d_winograd_template(), workloads(),
      [](const Workload& workload, const Config& config, const ir::Kernel& kernel) {
        const ir::Launch launch = ir::launch_of(kernel);
        const auto schedule =
            testing::schedule_of<winograd_cuda_knobs>(config, workload, cuda_limits("sm_90a"));
        ASSERT_EQ(launch.block[0], schedule.threads());
        ASSERT_EQ(launch.block[0] % 32, 0);
        ASSERT_EQ(launch.shared_bytes, winograd_cuda_shared_bytes(workload.conv2d(), schedule));
        ASSERT_EQ(launch.grid[1], schedule.split_k);
      });
}

TEST(WinogradCudaSpace, HoldsItsDefault) {
  lehr::testing::expect_default_in_space(conv2d_winograd_template(), workloads());
}

TEST(WinogradCudaSpace, ReachesEveryValueOfEveryKnob) {
  lehr::testing::expect_every_value_is_reached(conv2d_winograd_template().space(
      parse_workload("conv2d h=14 w=14 c=1024 k=256 r=3 s=3 pad=1"), cuda_limits("sm_90a")));
}

TEST(WinogradCudaSpace, SharesTheChannelsOfASmallMap) {
  const auto parts = [](const char* text) {
    return testing::default_of(conv2d_winograd_template(), parse_workload(text), cuda_limits("sm_90a"))
        .at("split_k");
  };
  EXPECT_GT(parts("conv2d h=7 w=7 c=512 k=512 r=3 s=3 pad=1"), 1);
  EXPECT_EQ(parts("conv2d n=32 h=56 w=56 c=64 k=64 r=3 s=3 pad=1"), 1);
}

TEST(WinogradCuda, TakesFewerOperationsThanTheDefinition) {
  const Workload workload = parse_workload("conv2d n=8 h=56 w=56 c=256 k=256 r=3 s=3 pad=1");
  const Template family = conv2d_winograd_template();
  const Limits limits = cuda_limits("sm_90a");
  const FamilySpace space = family.space(workload, limits);
  Rng rng(lehr::testing::kSpaceSeed);
  for (int i = 0; i < 20; ++i) {
    const Config config = testing::sample_config(space, rng).value();
    const double flops = ir::analyze(testing::lowered(family, workload, config, limits)).flops;
    const double products = flops_of(workload) / (config.at("tile") == 2 ? 2.25 : 4);
    EXPECT_GT(flops, products) << to_text(config);
    const bool large = config.at("bm") >= 64 && config.at("bn") >= 32;
    EXPECT_LT(flops, (large ? 1.6 : 4.0) * products) << to_text(config);
  }
}

TEST(WinogradCuda, SaysWhomItDoesNotServe) {
  const auto why_not = [](const char* text, const Limits& limits) {
    return why_unserved(conv2d_winograd_template(), parse_workload(text), limits).value_or("");
  };
  const Limits limits = cuda_limits("sm_90a");
  const char* const served = "conv2d h=8 w=8 c=4 k=4 r=3 s=3 pad=1";
  EXPECT_EQ(why_not(served, limits), "");
  EXPECT_THAT(why_not(served, Limits{}), ::testing::HasSubstr("CUDA"));
  EXPECT_THAT(why_not("conv2d h=8 w=8 c=4 k=4 r=3 s=3 stride=2", limits), ::testing::HasSubstr("3x3"));
  EXPECT_THAT(why_not("conv2d h=8 w=8 c=4 k=4 r=3 s=3 x=f16 f=f16 y=f16", limits),
              ::testing::HasSubstr("f32"));
}

TEST(WinogradCuda, LowersTheSameConfigToTheSameKernel) {
  lehr::testing::expect_the_same_kernel_twice(conv2d_winograd_template(), workloads().back());
}

}  // namespace
}  // namespace lehr
