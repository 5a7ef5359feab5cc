// Tests of the schedules of conv2d_mma where images have few channels: the copies of single elements must
// leave some.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/limits.h"
#include "base/rng.h"
#include "cuda_space_checks.h"
#include "target/cuda/archs.h"
#include "templates/conv2d/cuda/conv2d_mma.h"
#include "tests/support/sample_config.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

/// Returns first layers of networks, groups of few channels, outputs of less than a tile, few and many
/// products.
const std::vector<std::string>& few_channels() {
  static const std::vector<std::string> all = {
      "h=14 w=14 c=3 k=1 r=3 s=3 stride=2 pad=1",
      "n=8 h=224 w=224 c=3 k=64 r=7 s=7 stride=2 pad=3",
      "h=14 w=14 c=3 k=24 r=3 s=3 stride=2 pad=1",
      "n=64 h=448 w=448 c=32 k=16 r=1 s=1 stride=2",
      "h=128 w=128 c=16 k=16 r=1 s=1 groups=8",
      "n=4 h=1 w=1 c=39 k=3 r=11 s=11 stride=2 pad=30x10 dilation=6x2",
      "n=16 h=19 w=19 c=2 k=2 r=3 s=1 pad=1x0",
      "n=32 h=24 w=24 c=9 k=30 r=3 s=3 stride=3 pad=1x6 dilation=1x6 groups=3",
      "h=3 w=21 c=1210 k=12 r=11 s=11 stride=4 pad=10x5 dilation=2x1",
      "h=2 w=2 c=80 k=48 r=3 s=3 stride=3 pad=1 groups=16",
      "h=224 w=224 c=1 k=8 r=5 s=5 pad=2",
      "h=33 w=35 c=21 k=23 r=3 s=4 pad=2x0x1x1",
      "n=64 h=1 w=1 c=7 k=48 r=3 s=3 pad=1",
      "n=2 h=2 w=3 c=6 k=40 r=5 s=7 pad=2x3 groups=2",
      "h=1 w=40 c=10 k=33 r=3 s=3 pad=1",
      "h=33 w=33 c=13 k=256 r=3 s=3 pad=36 dilation=36"};
  return all;
}

const std::vector<std::string>& operand_types() {
  static const std::vector<std::string> all = {"x=s8 f=s8 y=s32 accum=s32",
                                               "x=e4m3 f=e4m3 y=f32",
                                               "x=e5m2 f=e5m2 y=f32",
                                               "x=e4m3 f=e4m3 y=bf16",
                                               "x=f16 f=f16 y=f16",
                                               "x=bf16 f=bf16 y=bf16",
                                               "x=f32 f=f32 y=f32 math=tf32",
                                               "x=f32 f=f32 y=f32 math=3xtf32",
                                               "x=e4m3 f=e4m3 y=f32 math=two_level"};
  return all;
}

void expect_schedules(const Workload& workload, const Limits& limits) {
  const Template family = conv2d_mma_template();
  const FamilySpace space = family.space(workload, limits);
  std::vector<Config> configs = {testing::default_of(family, workload, limits)};
  EXPECT_EQ(space.why_invalid(configs[0]), std::nullopt);
  Rng rng(lehr::testing::kSpaceSeed);
  for (int i = 0; i < 3; ++i) {
    const auto config = testing::sample_config(space, rng);
    ASSERT_TRUE(config) << "sampling finds no schedule";
    configs.push_back(*config);
  }
  for (const Config& config : configs)
    EXPECT_EQ(ir::why_malformed(testing::lowered(family, workload, config, limits)), std::nullopt)
        << to_text(config);
}

TEST(Conv2dMmaSpace, HoldsSchedulesForFewChannelsOfEveryType) {
  SCOPED_TRACE(::testing::Message() << "seed " << lehr::testing::kSpaceSeed);
  std::set<std::string> served;
  for (const char* const arch : {"sm_80", "sm_89", "sm_90a"}) {
    for (const std::string& type : operand_types()) {
      for (const std::string& shape : few_channels()) {
        for (const char* const layout : {"nchw", "nhwc"}) {
          const Workload workload = parse_workload("conv2d " + shape + " layout=" + layout + " " + type);
          SCOPED_TRACE(arch + (" " + to_text(workload)));
          const Limits limits = cuda_limits(arch);
          if (conv2d_mma_template().why_not(workload, limits)) continue;
          served.insert(arch + (" " + type));
          expect_schedules(workload, limits);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_EQ(served.size(), 3 * operand_types().size() - 4);  // all but 8-bit floats on sm_80
}

// Each config spilled with the larger number of stages (NVRTC 13.0).
TEST(Conv2dMmaSpace, LeavesRegistersForTheTilesOfADeepRing) {
  const auto expect_most = [](const char* arch, const char* conv, const std::string& tiles, int most,
                              int too_many) {
    const FamilySpace space = conv2d_mma_template().space(parse_workload(conv), cuda_limits(arch));
    const auto why_invalid = [&](int stages) {
      const Config config = parse_config("conv2d_mma(" + tiles + ", stages=" + std::to_string(stages) +
                                         ", frag_buffers=1, min_blocks=1, raster=1)");
      return space.why_invalid(config).value_or("");
    };
    EXPECT_NE(why_invalid(too_many).find("registers"), std::string::npos) << conv;
    EXPECT_EQ(why_invalid(most), "") << conv;
  };
  expect_most("sm_90a",
              "conv2d n=2 h=48 w=48 c=479 k=8 r=3 s=9 stride=3 pad=2x2x6x5 layout=nhwc x=f16 f=f16 y=f16",
              "bm=16, bn=16, wm=16, wn=16, bk=32, k_warps=1, split_k=12, stage_c=0", 4, 8);
  expect_most("sm_80", "conv2d n=32 h=8 w=2935 c=3 k=8 r=7 s=7 pad=2x0x5x3 math=tf32",
              "bm=16, bn=64, wm=16, wn=32, bk=16, k_warps=1, split_k=1, stage_c=1", 2, 4);
  expect_most("sm_90a", "conv2d n=32 h=80 w=80 c=8 k=2048 r=7 s=7 stride=2 dilation=3 groups=2 math=tf32",
              "bm=128, bn=32, wm=128, wn=16, bk=16, k_warps=1, split_k=1, stage_c=0", 4, 8);
}

}  // namespace
}  // namespace lehr
