// Tests of the schedules of gemm_mma: legal by construction, and which family serves which workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cuda_space_checks.h"
#include "gemm_mma_cases.h"
#include "ir/analyze.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_mma.h"
#include "templates/gemm/cuda/gemm_mma_space.h"
#include "templates/gemm/cuda/gemm_simt.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;
using lehr::testing::mma_of;
using lehr::testing::with_output;

constexpr std::uint64_t kSeed = lehr::testing::kSpaceSeed;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      mma_of(DType::kBF16, 1, 1, 1, 1, 0),
      mma_of(DType::kBF16, 7, 5, 3, 1, 1),
      mma_of(DType::kF16, 33, 65, 17, 1, 2),
      mma_of(DType::kF16, 100, 70, 130, 3, 3),
      with_output(mma_of(DType::kBF16, 1, 4096, 4096, 1, 2), DType::kBF16),
      mma_of(DType::kBF16, 4096, 1, 512, 1, 4),
      mma_of(DType::kBF16, 16, 4096, 4096, 1, 5),
      mma_of(DType::kBF16, 4096, 4096, 4096, 1, 7),
      mma_of(DType::kBF16, 4097, 4095, 4099, 1, 0),
      mma_of(DType::kF16, 64, 64, 64, 1000, 0),
      mma_of(DType::kF32, 512, 512, 512, 1, 1, Math::kTf32),
      mma_of(DType::kF32, 1000, 77, 333, 1, 2, Math::k3xTf32),
      mma_of(DType::kS8, 513, 511, 259, 1, 6),
      mma_of(DType::kS8, 32, 4096, 4096, 1, 2),
      mma_of(DType::kBF16, 16, 1000, 16384, 1, 2),
      mma_of(DType::kF16, 65, 63, 9999, 3, 0),
  };
  return all;
}

GemmMmaSchedule default_of(const Workload& workload) {
  const Limits limits = cuda_limits("sm_90a");
  return testing::schedule_of<gemm_mma_knobs>(testing::default_of(gemm_mma_template(), workload, limits),
                                              workload, limits);
}

TEST(GemmMmaSpace, TenThousandSampledSchedulesLowerVerifyAndKeepTheStaticLimits) {
  lehr::testing::expect_legal_schedules(
      gemm_mma_template(), workloads(),
      [](const Workload& workload, const Config& config, const ir::Kernel& kernel) {
        const ir::Launch launch = ir::launch_of(kernel);
        const auto schedule = testing::schedule_of<gemm_mma_knobs>(config, workload, cuda_limits("sm_90a"));
        ASSERT_EQ(launch.block[0], schedule.threads());
        ASSERT_EQ(launch.shared_bytes,
                  gemm_mma_shared_bytes(gemm_mma_problem(workload, cuda_limits("sm_90a")), schedule));
        ASSERT_EQ(launch.grid[1], schedule.split_k);
      });
}

TEST(GemmMmaSpace, HoldsItsDefault) {
  lehr::testing::expect_default_in_space(gemm_mma_template(), workloads());
}

TEST(GemmMmaSpace, GivesTheTextbookTileToALargeProblemAndWarpsAlongKToFewRows) {
  const GemmMmaSchedule large = default_of(mma_of(DType::kBF16, 4096, 4096, 4096, 1, 2));
  EXPECT_EQ(large.bm, 128);
  EXPECT_EQ(large.wm * large.wn, 64 * 64);
  EXPECT_EQ(large.k_warps, 1);
  const GemmMmaSchedule few = default_of(mma_of(DType::kBF16, 8, 4096, 4096, 1, 2));
  EXPECT_EQ(few.bm, 16);
  EXPECT_EQ(few.k_warps, 4);
}

TEST(GemmMmaSpace, LetsBlocksSplitKOnlyWhereItIsLongAndTheGridSmall) {
  const Limits limits = cuda_limits("sm_90a");
  const auto of_default = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return default_of(mma_of(DType::kBF16, m, n, k, 1, 2)).split_k;
  };
  EXPECT_EQ(of_default(4096, 4096, 4096), 1);
  EXPECT_EQ(of_default(16, 4096, 16384), 1);  // 128 blocks: nearly one for each multiprocessor
  EXPECT_EQ(of_default(16, 1024, 16384), 4);
  EXPECT_EQ(of_default(64, 64, 32768), 32);
  EXPECT_EQ(of_default(64, 64, 511), 1);
  const auto most = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const FamilySpace space = gemm_mma_template().space(mma_of(DType::kBF16, m, n, k, 1, 2), limits);
    Rng rng(kSeed);
    std::int64_t largest = 0;
    for (int i = 0; i < 500; ++i)
      largest = std::max(largest, testing::sample_config(space, rng)->at("split_k"));
    return largest;
  };
  EXPECT_EQ(most(64, 64, 400), 1);
  EXPECT_EQ(most(64, 64, 1024), 4);
  EXPECT_EQ(most(8192, 8192, 8192), 1);
  EXPECT_EQ(most(16, 4096, 16384), 32);
}

TEST(GemmMmaSpace, Of3xTf32UnrollsNoMoreFragmentsThanFitIntoRegisters) {
  const Workload workload = mma_of(DType::kF32, 60, 128, 8191, 1, 0, Math::k3xTf32);
  const FamilySpace space = gemm_mma_template().space(workload, cuda_limits("sm_90a"));
  const auto why_invalid = [&](int bk) {
    return space.why_invalid(
        parse_config("gemm_mma(bm=32, bn=128, wm=16, wn=32, bk=" + std::to_string(bk) +
                     ", k_warps=1, split_k=6, stage_c=1, stages=4, frag_buffers=1, min_blocks=1, raster=1)"));
  };
  EXPECT_THAT(why_invalid(64).value_or(""), ::testing::HasSubstr("too much code"));
  EXPECT_EQ(why_invalid(32), std::nullopt);
}

// Each config spilled with the larger number of stages (NVRTC 13.0 on sm_90a).
TEST(GemmMmaSpace, LeavesRegistersForTheTilesOfADeepRingThatComeThroughThem) {
  const Limits limits = cuda_limits("sm_90a");
  const auto why_invalid = [&](const char* workload, std::string config, int stages) {
    const std::string mark = "stages=?";
    config.replace(config.find(mark), mark.size(), "stages=" + std::to_string(stages));
    return gemm_mma_template()
        .space(parse_workload(workload), limits)
        .why_invalid(parse_config(config))
        .value_or("");
  };
  const char* const s8 = "gemm m=17 n=514 k=1459 a=s8:row b=s8:column c=s32:row accum=s32";
  const char* const of_s8 =
      "gemm_mma(bm=32, bn=64, wm=16, wn=16, bk=128, k_warps=1, split_k=2, stage_c=1, stages=?, "
      "frag_buffers=2, min_blocks=1, raster=1)";
  const char* const e4m3 = "gemm m=5 n=23 k=89494 a=e4m3:row b=e4m3:row c=f32:row math=two_level";
  const char* const of_e4m3 =
      "gemm_mma(bm=16, bn=16, wm=16, wn=16, bk=64, k_warps=2, split_k=3, stage_c=1, stages=?, "
      "frag_buffers=1, min_blocks=3, raster=1)";
  EXPECT_THAT(why_invalid(s8, of_s8, 5), ::testing::HasSubstr("registers"));
  EXPECT_EQ(why_invalid(s8, of_s8, 2), "");
  EXPECT_THAT(why_invalid(e4m3, of_e4m3, 8), ::testing::HasSubstr("registers"));
  EXPECT_EQ(why_invalid(e4m3, of_e4m3, 2), "");
}

TEST(GemmMmaSpace, KeepsTheWorkspaceWithin32MiB) {
  const Limits limits = cuda_limits("sm_90a");
  const Workload workload = mma_of(DType::kBF16, 500, 2000, 50000, 1, 2);
  Rng rng(kSeed);
  const FamilySpace space = gemm_mma_template().space(workload, limits);
  std::int64_t largest = 0;
  for (int i = 0; i < 1000; ++i) {
    const ir::Kernel kernel =
        testing::lowered(gemm_mma_template(), workload, *testing::sample_config(space, rng), limits);
    std::int64_t bytes = 0;
    for (const ir::Param& param : kernel.params)
      if (param.direction == ir::Direction::kWorkspace && kernel.buffer(param.buffer).name == "partials")
        bytes += kernel.buffer(param.buffer).elements * 4;
    largest = std::max(largest, bytes);
  }
  EXPECT_LE(largest, 32 << 20);
  EXPECT_GT(largest, 16 << 20);
}

TEST(GemmMmaSpace, ReachesEveryValueOfEveryKnob) {
  for (const Workload& workload : {mma_of(DType::kBF16, 1024, 1024, 1024, 1, 2),
                                   mma_of(DType::kF32, 1024, 1024, 1024, 1, 0, Math::kTf32),
                                   mma_of(DType::kS8, 1024, 1024, 1024, 1, 2)}) {
    SCOPED_TRACE(to_text(workload));
    lehr::testing::expect_every_value_is_reached(gemm_mma_template().space(workload, cuda_limits("sm_90a")));
  }
}

/// Collects the names of the intrinsics in a kernel.
void collect(const ir::Block& block, std::set<std::string>& names) {
  for (const ir::Stmt& stmt : block) {
    if (const auto* loop = std::get_if<ir::For>(&stmt.node)) collect(loop->body, names);
    if (const auto* branch = std::get_if<ir::If>(&stmt.node)) {
      collect(branch->then, names);
      collect(branch->otherwise, names);
    }
    if (const auto* intrinsic = std::get_if<ir::Intrinsic>(&stmt.node))
      names.insert(std::string(intrinsic->name));
  }
}
std::set<std::string> intrinsics_of(const Workload& workload, const char* arch = "sm_90a") {
  const Limits limits = cuda_limits(arch);
  const Template gemm_mma = gemm_mma_template();
  std::set<std::string> names;
  collect(testing::lowered(gemm_mma, workload, testing::default_of(gemm_mma, workload, limits), limits).body,
          names);
  return names;
}

TEST(GemmMma, CopiesAsManyBytesAtOnceAsRowsAreAligned) {
  using ::testing::Contains;
  using ::testing::Not;
  EXPECT_THAT(intrinsics_of(mma_of(DType::kBF16, 64, 64, 64, 1, 2)), Contains("cp_async_16"));
  EXPECT_THAT(intrinsics_of(mma_of(DType::kBF16, 64, 64, 68, 1, 2)), Contains("cp_async_8"));
  EXPECT_THAT(intrinsics_of(mma_of(DType::kBF16, 64, 64, 66, 1, 2)), Contains("cp_async_4"));
  EXPECT_THAT(intrinsics_of(mma_of(DType::kBF16, 64, 64, 67, 1, 2)), Not(Contains("cp_async_commit")));
  EXPECT_THAT(intrinsics_of(mma_of(DType::kF32, 64, 64, 67, 1, 2, Math::kTf32)), Contains("cp_async_4"));
}

TEST(GemmMma, OnTuringCopiesThroughRegistersAndMultipliesHalvesOfK) {
  using ::testing::ElementsAre;
  EXPECT_THAT(intrinsics_of(mma_of(DType::kF16, 64, 64, 64, 1, 2), "sm_75"),
              ElementsAre("ldmatrix_x4", "mma_m16n8k8_f32_f16"));
  EXPECT_THAT(
      intrinsics_of(mma_of(DType::kF16, 64, 64, 64, 1, 2), "sm_80"),
      ElementsAre("cp_async_16", "cp_async_commit", "cp_async_wait", "ldmatrix_x4", "mma_m16n8k16_f32_f16"));
  // Copies are of 16 bytes, where rows are aligned so.
  const Limits turing = cuda_limits("sm_75");
  const Workload workload = mma_of(DType::kF16, 1000, 1000, 1000, 1, 2);
  const FamilySpace space = gemm_mma_template().space(workload, turing);
  Rng rng(kSeed);
  for (int i = 0; i < 50; ++i) {
    const Config config = *testing::sample_config(space, rng);
    EXPECT_EQ(config.at("stages"), 2);
    const auto schedule = testing::schedule_of<gemm_mma_knobs>(config, workload, turing);
    const GemmMmaTile tile = gemm_mma_tile_a(gemm_mma_problem(workload, turing), schedule);
    EXPECT_FALSE(tile.async);
    EXPECT_EQ(tile.vec, 8);
  }
}

TEST(GemmMma, CountsTheFlopsOfItsTiles) {
  for (const char* const arch : {"sm_75", "sm_90a"}) {
    const Limits limits = cuda_limits(arch);
    const Workload workload = mma_of(DType::kF16, 256, 256, 128, 1, 2);
    const ir::Kernel kernel = testing::lowered(
        gemm_mma_template(), workload, testing::default_of(gemm_mma_template(), workload, limits), limits);
    EXPECT_GE(ir::analyze(kernel).flops, 2.0 * 256 * 256 * 128) << arch;
    EXPECT_LT(ir::analyze(kernel).flops, 2.1 * 256 * 256 * 128) << arch;
  }
  const Limits limits = cuda_limits("sm_90a");
  const Workload workload = mma_of(DType::kBF16, 256, 256, 128, 1, 2);
  Rng rng(kSeed);
  for (int i = 0; i < 50; ++i) {
    const Config config = *testing::sample_config(gemm_mma_template().space(workload, limits), rng);
    const ir::Analysis analysis =
        ir::analyze(testing::lowered(gemm_mma_template(), workload, config, limits));
    const auto s = testing::schedule_of<gemm_mma_knobs>(config, workload, limits);
    const double sums = static_cast<double>(s.k_warps - 1) * 256 * 256;
    EXPECT_EQ(analysis.flops, 2.0 * 256 * 256 * 128 + sums) << to_text(config);
    EXPECT_EQ(analysis.pipeline_depth, s.stages - 1);
    EXPECT_EQ(analysis.unique_global_bytes, 256 * 128 * 2 * 2 + 256 * 256 * 4) << to_text(config);
  }
}

TEST(GemmMma, SaysWhomItDoesNotServe) {
  using ::testing::HasSubstr;
  const Template gemm_mma = gemm_mma_template();
  const Limits limits = cuda_limits("sm_90a");
  const auto reason = [&](const Workload& workload, const char* arch = "sm_90a") {
    return gemm_mma.why_not(workload, cuda_limits(arch)).value_or("");
  };
  EXPECT_THAT(reason(gemm_of(8, 8, 8, 1, 0)), HasSubstr("tensor cores round f32 to tf32"));
  EXPECT_EQ(reason(mma_of(DType::kF32, 8, 8, 8, 1, 0, Math::kTf32)), "");
  EXPECT_THAT(reason(mma_of(DType::kE4M3, 8, 8, 8, 1, 2), "sm_80"), HasSubstr("needs sm_89"));
  EXPECT_EQ(reason(mma_of(DType::kE5M2, 8, 8, 8, 1, 2), "sm_89"), "");
  EXPECT_EQ(reason(mma_of(DType::kF16, 8, 8, 8, 1, 2), "sm_75"), "");
  EXPECT_EQ(reason(mma_of(DType::kBF16, 8, 8, 8, 1, 2), "sm_75"),
            "mma.sync of bf16 needs sm_80 or newer, not sm_75");
  EXPECT_EQ(reason(mma_of(DType::kS8, 8, 8, 8, 1, 2), "sm_75"),
            "mma.sync of s8 needs sm_80 or newer, not sm_75");
  EXPECT_EQ(reason(mma_of(DType::kF32, 8, 8, 8, 1, 2, Math::kTf32), "sm_75"),
            "mma.sync of tf32 needs sm_80 or newer, not sm_75");
  EXPECT_THAT(reason(mma_of(DType::kF64, 8, 8, 8, 1, 0)), HasSubstr("f64"));
  EXPECT_THAT(reason(with_output(mma_of(DType::kBF16, 8, 8, 8, 1, 0), DType::kF16)), HasSubstr("as f16"));
  EXPECT_THAT(reason(with_output(mma_of(DType::kS8, 8, 8, 8, 1, 0), DType::kS8)), HasSubstr("as s8"));
  EXPECT_THAT(reason(mma_of(DType::kBF16, 8, 8, 8, 70000, 0)), HasSubstr("65535"));
  EXPECT_THAT(reason(mma_of(DType::kBF16, 46341, 46341, 8, 1, 0)), HasSubstr("32-bit"));
  Workload mixed = mma_of(DType::kBF16, 8, 8, 8, 1, 0);
  mixed.gemm().b.type = DType::kF16;
  EXPECT_THAT(reason(mixed), HasSubstr("one type"));
  EXPECT_TRUE(why_unserved(gemm_mma, mma_of(DType::kBF16, 8, 8, 8, 1, 0), Limits{}));
  // And strict f32 keeps a family that serves it.
  EXPECT_EQ(gemm_simt_template().why_not(gemm_of(8, 8, 8, 1, 0), limits), std::nullopt);
}

/// Returns the families that serve a workload.
std::set<std::string> families_of(const Workload& workload, const char* arch) {
  const Families found = families_for(catalog(), workload, cuda_limits(arch));
  EXPECT_EQ(found.defaults.size(), found.spaces.size());
  std::set<std::string> names;
  for (const FamilySpace& space : found.spaces) names.insert(space.family());
  return names;
}

TEST(GemmMma, LeavesItsEmulated8BitFloatsToWgmma) {
  using ::testing::ElementsAre;
  const Workload whole = mma_of(DType::kE4M3, 512, 512, 512, 1, 2),
                 odd = mma_of(DType::kE4M3, 512, 512, 513, 1, 2);
  EXPECT_THAT(families_of(whole, "sm_90a"), ElementsAre("gemm_wgmma"));
  EXPECT_EQ(
      gemm_mma_template().why_not(whole, cuda_limits("sm_90a")).value_or(""),
      "mma.sync of e4m3 is conversions and products of f16 on sm_90a: gemm_wgmma has instructions for it");
  EXPECT_THAT(families_of(odd, "sm_90a"), ElementsAre("gemm_mma")) << "wgmma refuses its lines";
  for (const char* const arch : {"sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"})
    EXPECT_THAT(families_of(whole, arch), ElementsAre("gemm_mma")) << arch;
  const Workload conv = parse_workload("conv2d h=9 w=9 c=32 k=32 r=3 s=3 layout=nhwc x=e4m3 f=e4m3 y=bf16");
  EXPECT_THAT(families_of(conv, "sm_90a"), ElementsAre("conv2d_wgmma"));
  EXPECT_THAT(families_of(conv, "sm_100"), ElementsAre("conv2d_mma"));
}

TEST(GemmMma, LowersTheSameConfigToTheSameKernel) {
  lehr::testing::expect_the_same_kernel_twice(gemm_mma_template(), mma_of(DType::kBF16, 100, 70, 130, 3, 5));
}

}  // namespace
}  // namespace lehr
