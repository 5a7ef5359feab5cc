// The schedules of gemm_simt: legal by construction, and what serves whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cuda_cases.h"
#include "ir/verify.h"
#include "templates/gemm_simt.h"
#include "templates/gemm_simt_space.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;

constexpr std::uint64_t kSeed = 20251121;
constexpr int kSamples = 10000;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      gemm_of(1, 1, 1, 1, 0),          gemm_of(7, 5, 3, 1, 1),       gemm_of(33, 65, 17, 1, 2),
      gemm_of(100, 70, 130, 3, 3),     gemm_of(1, 4096, 4096, 1, 2), gemm_of(4096, 1, 512, 1, 4),
      gemm_of(16, 4096, 4096, 1, 5),   gemm_of(512, 512, 512, 1, 6), gemm_of(4096, 4096, 4096, 1, 7),
      gemm_of(4097, 4095, 4099, 1, 0), gemm_of(64, 64, 64, 1000, 0), gemm_of(2, 3, 100000, 1, 1)};
  return all;
}

TEST(GemmSimtSpace, TenThousandSampledSchedulesLowerVerifyAndKeepTheStaticLimits) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Template gemm_simt = gemm_simt_template();
  for (const char* arch : {"sm_80", "sm_90a"}) {
    const Limits limits = cuda_limits(arch);
    Rng rng(kSeed);
    for (const Workload& workload : workloads()) {
      ASSERT_EQ(gemm_simt.why_not(workload, limits), std::nullopt);
      const FamilySpace space = gemm_simt.space(workload, limits);
      const int samples = kSamples / static_cast<int>(2 * workloads().size()) + 1;
      for (int i = 0; i < samples; ++i) {
        const auto config = space.sample(rng);
        ASSERT_TRUE(config) << to_text(workload) << ": no schedule found";
        const ir::Kernel kernel = gemm_simt.lower(workload, *config, limits);
        const auto malformed = ir::why_malformed(kernel);
        ASSERT_FALSE(malformed) << *malformed << " in " << to_text(workload) << " " << to_text(*config);
        const ir::Launch launch = ir::launch_of(kernel);
        const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
        const GemmSimtSchedule schedule = gemm_simt_schedule(*config);
        ASSERT_EQ(threads, schedule.threads());
        ASSERT_EQ(threads % 32, 0) << to_text(*config);
        ASSERT_LE(threads, limits.max_threads_per_block) << to_text(*config);
        ASSERT_LE(launch.shared_bytes, limits.shared_bytes_per_block) << to_text(*config);
        ASSERT_EQ(launch.shared_bytes, gemm_simt_shared_bytes(cpu::problem_of(workload), schedule));
        ASSERT_LE(launch.shared_bytes * schedule.min_blocks, limits.shared_bytes_per_core)
            << to_text(*config);
        ASSERT_LE(launch.grid[2], 65535);
      }
    }
  }
}

TEST(GemmSimtSpace, HoldsItsDefault) {
  const Template gemm_simt = gemm_simt_template();
  const Limits limits = cuda_limits("sm_90a");
  for (const Workload& workload : workloads()) {
    const Config config = gemm_simt.default_config(workload, limits);
    EXPECT_EQ(gemm_simt.space(workload, limits).why_invalid(config), std::nullopt)
        << to_text(workload) << " " << to_text(config);
  }
}

TEST(GemmSimtSpace, GivesTheTextbookTileToALargeProblem) {
  const GemmSimtSchedule schedule = gemm_simt_schedule(
      gemm_simt_template().default_config(gemm_of(4096, 4096, 4096, 1, 0), cuda_limits("sm_90a")));
  EXPECT_EQ(schedule.bm, 128);
  EXPECT_EQ(schedule.bn, 128);
  EXPECT_EQ(schedule.tm, 8);
  EXPECT_EQ(schedule.tn, 8);
  EXPECT_EQ(schedule.vec_a, 4);
  EXPECT_EQ(schedule.vec_b, 4);
}

TEST(GemmSimtSpace, ReachesEveryValueOfEveryKnob) {
  const FamilySpace space = gemm_simt_space(gemm_of(1024, 1024, 1024, 1, 2), cuda_limits("sm_90a"));
  std::vector<std::set<std::int64_t>> seen(space.knobs().size());
  Rng rng(kSeed);
  for (int i = 0; i < 3000; ++i) {
    const auto config = space.sample(rng);
    ASSERT_TRUE(config);
    for (std::size_t knob = 0; knob < seen.size(); ++knob) seen[knob].insert(config->knobs[knob].value);
  }
  for (std::size_t knob = 0; knob < seen.size(); ++knob) {
    EXPECT_EQ(seen[knob].size(), space.knobs()[knob].values.size()) << space.knobs()[knob].name;
  }
}

TEST(GemmSimtSpace, LoadsVectorsOnlyWhereRowsAreAligned) {
  Rng rng(kSeed);
  const FamilySpace space = gemm_simt_space(gemm_of(64, 63, 66, 1, 0), cuda_limits("sm_90a"));
  for (int i = 0; i < 300; ++i) {
    const GemmSimtSchedule schedule = gemm_simt_schedule(*space.sample(rng));
    EXPECT_LE(schedule.vec_a, 2);  // rows of 66
    EXPECT_EQ(schedule.vec_b, 1);  // rows of 63
  }
}

TEST(GemmSimt, SaysWhomItDoesNotServe) {
  const Template gemm_simt = gemm_simt_template();
  const Limits limits = cuda_limits("sm_90a");
  Workload half = gemm_of(8, 8, 8, 1, 0);
  half.gemm.b.type = DType::kF16;
  EXPECT_THAT(gemm_simt.why_not(half, limits).value_or(""), ::testing::HasSubstr("f16"));
  EXPECT_TRUE(gemm_simt.why_not(gemm_of(8, 8, 8, 70000, 0), limits));
  EXPECT_TRUE(gemm_simt.why_not(gemm_of(46341, 46341, 8, 1, 0), limits));
  EXPECT_TRUE(gemm_simt.why_not(gemm_of(8, 8, 8, 1, 0), Limits{}));
  EXPECT_FALSE(gemm_simt.why_not(gemm_of(46000, 46000, 8, 1, 0), limits));
}

TEST(GemmSimt, LowersTheSameConfigToTheSameKernel) {
  const Template gemm_simt = gemm_simt_template();
  const Limits limits = cuda_limits("sm_80");
  const Workload workload = gemm_of(100, 70, 130, 3, 5);
  const Config config = gemm_simt.default_config(workload, limits);
  EXPECT_EQ(gemm_simt.lower(workload, config, limits), gemm_simt.lower(workload, config, limits));
}

}  // namespace
}  // namespace lehr
