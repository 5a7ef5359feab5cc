// Tests of the schedules of gemm_simt: legal by construction, and which family serves which workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda_cases.h"
#include "cuda_space_checks.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_simt.h"
#include "templates/gemm/cuda/gemm_simt_space.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;

constexpr std::uint64_t kSeed = lehr::testing::kSpaceSeed;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      gemm_of(1, 1, 1, 1, 0),          gemm_of(7, 5, 3, 1, 1),       gemm_of(33, 65, 17, 1, 2),
      gemm_of(100, 70, 130, 3, 3),     gemm_of(1, 4096, 4096, 1, 2), gemm_of(4096, 1, 512, 1, 4),
      gemm_of(16, 4096, 4096, 1, 5),   gemm_of(512, 512, 512, 1, 6), gemm_of(4096, 4096, 4096, 1, 7),
      gemm_of(4097, 4095, 4099, 1, 0), gemm_of(64, 64, 64, 1000, 0), gemm_of(2, 3, 100000, 1, 1),
      gemm_of(64, 256, 16384, 1, 2),   gemm_of(65, 33, 9984, 3, 5)};
  return all;
}

GemmSimtSchedule default_of(const Workload& workload) {
  const Limits limits = cuda_limits("sm_90a");
  return testing::schedule_of<gemm_simt_knobs>(testing::default_of(gemm_simt_template(), workload, limits),
                                               workload, limits);
}

TEST(GemmSimtSpace, TenThousandSampledSchedulesLowerVerifyAndKeepTheStaticLimits) {
  lehr::testing::expect_legal_schedules(
      gemm_simt_template(), workloads(),
      [](const Workload& workload, const Config& config, const ir::Kernel& kernel) {
        const ir::Launch launch = ir::launch_of(kernel);
        const auto schedule = testing::schedule_of<gemm_simt_knobs>(config, workload, cuda_limits("sm_90a"));
        ASSERT_EQ(launch.block[0], schedule.threads());
        ASSERT_EQ(launch.block[0] % 32, 0);
        ASSERT_EQ(launch.shared_bytes, gemm_simt_shared_bytes(product_view(workload), schedule));
        ASSERT_EQ(launch.grid[1], schedule.split_k);
      });
}

TEST(GemmSimtSpace, HoldsItsDefault) {
  lehr::testing::expect_default_in_space(gemm_simt_template(), workloads());
}

TEST(GemmSimtSpace, GivesTheTextbookTileToALargeProblem) {
  const GemmSimtSchedule schedule = default_of(gemm_of(4096, 4096, 4096, 1, 0));
  EXPECT_EQ(schedule.bm, 128);
  EXPECT_EQ(schedule.bn, 128);
  EXPECT_EQ(schedule.tm, 8);
  EXPECT_EQ(schedule.tn, 8);
  EXPECT_EQ(schedule.vec_a, 4);
  EXPECT_EQ(schedule.vec_b, 4);
}

TEST(GemmSimtSpace, ReachesEveryValueOfEveryKnob) {
  lehr::testing::expect_every_value_is_reached(
      gemm_simt_template().space(gemm_of(1024, 1024, 1024, 1, 2), cuda_limits("sm_90a")));
}

TEST(GemmSimtSpace, LetsTwoBlocksOf128By128StayOnAMultiprocessorWithTwoFragmentBuffers) {
  // ptxas makes do with 128 registers there (NVRTC 13.0).
  const FamilySpace space = gemm_simt_template().space(gemm_of(4096, 4096, 4096, 1, 0), cuda_limits("sm_80"));
  EXPECT_EQ(space.why_invalid(parse_config(
                "gemm_simt(bm=128, bn=128, tm=8, tn=8, lanes_m=4, bk=8, split_k=1, async=0, stages=2, "
                "k_major=0, vec_a=4, vec_b=4, pad=4, min_blocks=2, frag_buffers=2, unroll=8, raster=4, "
                "staged=0)")),
            std::nullopt);
}

TEST(GemmSimtSpace, LetsBlocksSplitKOnlyWhereItIsLongAndWhole) {
  const auto split_of = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return default_of(gemm_of(m, n, k, 1, 2)).split_k;
  };
  EXPECT_EQ(split_of(4096, 4096, 4096), 1);
  EXPECT_EQ(split_of(64, 256, 16384), 8);  // 16 blocks of 32 x 32 without it
  EXPECT_EQ(split_of(64, 256, 16383), 1);
  EXPECT_EQ(split_of(64, 256, 500), 1);
}

TEST(GemmSimtSpace, LoadsVectorsOnlyWhereRowsAreAligned) {
  Rng rng(kSeed);
  const Limits limits = cuda_limits("sm_90a");
  const Workload workload = gemm_of(64, 63, 66, 1, 0);
  const FamilySpace space = gemm_simt_template().space(workload, limits);
  for (int i = 0; i < 300; ++i) {
    const auto schedule =
        testing::schedule_of<gemm_simt_knobs>(*testing::sample_config(space, rng), workload, limits);
    EXPECT_LE(schedule.vec_a, 2);  // rows of 66
    EXPECT_EQ(schedule.vec_b, 1);  // rows of 63
  }
}

TEST(GemmSimt, SaysWhomItDoesNotServe) {
  const Template gemm_simt = gemm_simt_template();
  const Limits limits = cuda_limits("sm_90a");
  Workload half = gemm_of(8, 8, 8, 1, 0);
  half.gemm().b.type = DType::kF16;
  EXPECT_THAT(gemm_simt.why_not(half, limits).value_or(""), ::testing::HasSubstr("f16"));
  EXPECT_TRUE(gemm_simt.why_not(gemm_of(8, 8, 8, 70000, 0), limits));
  EXPECT_TRUE(gemm_simt.why_not(gemm_of(46341, 46341, 8, 1, 0), limits));
  EXPECT_TRUE(why_unserved(gemm_simt, gemm_of(8, 8, 8, 1, 0), Limits{}));
  EXPECT_FALSE(gemm_simt.why_not(gemm_of(46000, 46000, 8, 1, 0), limits));
}

TEST(GemmSimt, LowersTheSameConfigToTheSameKernel) {
  lehr::testing::expect_the_same_kernel_twice(gemm_simt_template(), gemm_of(100, 70, 130, 3, 5));
}

}  // namespace
}  // namespace lehr
