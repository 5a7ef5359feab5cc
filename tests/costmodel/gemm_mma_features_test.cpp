// Tests of rows of real tensor-core kernels: finite everywhere, and true where the schedule says what they
// must be.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "costmodel/roofline_model.h"
#include "target/cuda/archs.h"
#include "templates/gemm/cuda/gemm_mma.h"
#include "templates/gemm/cuda/gemm_simt.h"
#include "templates/gemm/cuda/gemm_wgmma.h"
#include "tests/costmodel/kernels.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using test::feature;
using test::unlog;

std::vector<float> row_of(const Workload& workload, const Config& config, const Limits& limits) {
  return featurize(testing::lowered(gemm_mma_template(), workload, config, limits), limits);
}
std::vector<float> row_of(const Workload& workload, const char* config) {
  return row_of(workload, parse_config(config), cuda_limits("sm_90a"));
}

TEST(GemmMmaFeatures, AreFiniteForSampledSchedulesOfEveryType) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Limits limits = cuda_limits("sm_90a");
  Rng rng(kSeed);
  for (const char* text : {"gemm m=16 n=1000 k=4096 a=bf16:row b=bf16:column c=bf16:row",
                           "gemm m=1000 n=777 k=333 batch=3 a=f16:row b=f16:row c=f32:row",
                           "gemm m=64 n=64 k=32768 math=tf32", "gemm m=128 n=128 k=128 math=3xtf32",
                           "gemm m=512 n=512 k=1024 a=s8:row b=s8:column c=s32:row accum=s32",
                           "gemm m=33 n=4096 k=4096 a=e4m3:row b=e4m3:column c=bf16:row"}) {
    const Workload workload = parse_workload(text);
    const FamilySpace space = gemm_mma_template().space(workload, limits);
    for (int i = 0; i < 40; ++i) {
      const Config config = *testing::sample_config(space, rng);
      const std::vector<float> row = row_of(workload, config, limits);
      for (std::size_t column = 0; column < row.size(); ++column)
        ASSERT_TRUE(std::isfinite(row[column]))
            << feature_table()[column].name << " of " << text << " " << to_text(config);
      // Whole tiles at the edges, of which a few are half empty; loops of uneven parts of k.
      EXPECT_GT(unlog(feature(row, "flops")), 0.9 * flops_of(workload)) << text << " " << to_text(config);
      EXPECT_GT(feature(row, "intrinsic_flops_share"), 0.9) << text << " " << to_text(config);
    }
  }
}

Workload square_of(const std::string& type, const std::string& c) {
  return parse_workload("gemm m=4096 n=4096 k=4096 a=" + type + ":row b=" + type + ":column c=" + c + ":row");
}
std::vector<float> default_row(const Template& family, const Workload& workload, const char* arch) {
  const Limits limits = cuda_limits(arch);
  return featurize(testing::lowered(family, workload, testing::default_of(family, workload, limits), limits),
                   limits);
}

TEST(GemmMmaFeatures, KnowHowFastTheDeviceMultipliesEachType) {
  const auto gain = [](const std::string& type, const char* arch) {
    return std::exp2(feature(default_row(gemm_mma_template(), square_of(type, "f32"), arch), "tensor_gain"));
  };
  EXPECT_NEAR(gain("f16", "sm_75"), 65 / 8.1, 0.01);
  EXPECT_NEAR(gain("bf16", "sm_80"), 16, 0.01);
  EXPECT_NEAR(gain("f16", "sm_86"), 2, 0.01);
  EXPECT_NEAR(gain("f16", "sm_89"), 4, 0.1);
  EXPECT_NEAR(gain("f16", "sm_120"), 2, 0.01);
  // One instruction on these, which has twice the rate of f16; conversions and products of f16 on those.
  for (const char* const arch : {"sm_89", "sm_120", "sm_121"})
    EXPECT_NEAR(gain("e4m3", arch) / gain("f16", arch), 2, 0.05) << arch;
  for (const char* const arch : {"sm_90", "sm_100", "sm_103", "sm_110"})
    EXPECT_NEAR(gain("e4m3", arch) / gain("f16", arch), 0.75, 0.01) << arch;
  // wgmma has all of Hopper's rate, mma.sync a part.
  const float whole =
      feature(default_row(gemm_wgmma_template(), square_of("bf16", "f32"), "sm_90a"), "tensor_gain");
  EXPECT_NEAR(std::exp2(whole), 989.0 / 67, 0.01);
  EXPECT_NEAR(gain("bf16", "sm_90a") / std::exp2(whole), 0.62, 0.01);
  EXPECT_EQ(feature(default_row(gemm_simt_template(), parse_workload("gemm m=512 n=512 k=512"), "sm_90a"),
                    "tensor_gain"),
            0);
}

TEST(GemmMmaFeatures, LetTheEstimateOf8BitFloatsGoWithTheDevice) {
  const auto compute_us = [](const std::string& type, const char* arch) {
    const RooflineModel model(cuda_limits(arch));
    return model.terms(default_row(gemm_mma_template(), square_of(type, "f32"), arch)).at(0).us;
  };
  const auto ratio = [&](const char* arch) { return compute_us("e4m3", arch) / compute_us("f16", arch); };
  EXPECT_LT(ratio("sm_89"), 0.6);
  EXPECT_GT(ratio("sm_100"), 1.5 * ratio("sm_89")) << "not half the time of f16 there";
}

TEST(GemmMmaFeatures, CopiesThatFewThreadsMakeAreCountedOnceForThese) {
  // 16 rows of A are 256 chunks of a tile of 128: a quarter of the 1024 threads' copies at a time.
  const Workload workload = parse_workload("gemm m=16 n=4096 k=4096 a=bf16:row b=bf16:column c=f32:row");
  for (const char* config :
       {"gemm_mma(bm=16, bn=32, wm=16, wn=32, bk=128, k_warps=4, split_k=1, stage_c=1, stages=6, "
        "frag_buffers=1, min_blocks=1, raster=1)",
        "gemm_mma(bm=16, bn=128, wm=16, wn=32, bk=32, k_warps=2, split_k=1, stage_c=1, stages=4, "
        "frag_buffers=1, min_blocks=1, raster=1)",
        "gemm_mma(bm=16, bn=256, wm=16, wn=64, bk=32, k_warps=2, split_k=1, stage_c=1, stages=4, "
        "frag_buffers=1, min_blocks=1, raster=1)"}) {
    const std::vector<float> row = row_of(workload, config);
    const double bn = static_cast<double>(parse_config(config).at("bn"));
    const double read = 2.0 * 4096 * 4096 + 4096 / bn * 2.0 * 16 * 4096;
    EXPECT_NEAR(unlog(feature(row, "global_read")) / read, 1, 0.1) << config;
    EXPECT_NEAR(unlog(feature(row, "global_written")) / (16 * 4096 * 4), 1, 0.02) << config;
    EXPECT_EQ(feature(row, "workspace_moved"), 0) << config;
  }
}

TEST(GemmMmaFeatures, BlocksThatSplitKFillTheDeviceAndPayWithTheirSums) {
  const Workload workload = parse_workload("gemm m=64 n=256 k=16384 a=bf16:row b=bf16:column c=f32:row");
  const auto row_with = [&](int split_k) {
    const Config config = parse_config(
        "gemm_mma(bm=64, bn=64, wm=32, wn=32, bk=64, k_warps=1, split_k=" + std::to_string(split_k) +
        ", stage_c=0, stages=4, frag_buffers=1, min_blocks=1, raster=1)");
    return row_of(workload, config, cuda_limits("sm_90a"));
  };
  const std::vector<float> whole = row_with(1), split = row_with(8);
  EXPECT_NEAR(unlog(feature(whole, "blocks")), 4, 1e-3);
  EXPECT_NEAR(unlog(feature(split, "blocks")), 32, 1e-3);
  EXPECT_NEAR(feature(split, "waves") - feature(whole, "waves"), 3, 1e-3);
  // Every sum goes to the workspace once and comes back once, and C is written by one block of eight. An If
  // without a loop inside is not weighed: the counter counts for every thread of a block, 2 % of the sums.
  const double c = 64 * 256 * 4;
  EXPECT_NEAR(unlog(feature(split, "workspace_moved")) / (2 * 8 * c), 1, 0.03);
  EXPECT_NEAR(unlog(feature(split, "global_written")) / (8 * c + c), 1, 0.03);
  EXPECT_NEAR(unlog(feature(split, "global_read")) - unlog(feature(whole, "global_read")), 8 * c,
              0.1 * unlog(feature(whole, "global_read")));
}

}  // namespace
}  // namespace lehr
