// Tests of the schedules of gemm_wgmma: legal by construction, and which workloads it serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <set>

#include "codegen/emit.h"
#include "costmodel/features.h"
#include "gemm_mma_cases.h"
#include "ir/analyze.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_wgmma.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "tests/support/sample_config.h"
#include "tests/support/verify.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;
using lehr::testing::mma_of;
using lehr::testing::with_output;
using ::testing::HasSubstr;

constexpr std::uint64_t kSeed = 20261121;
constexpr std::size_t kSamples = 10000;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      mma_of(DType::kBF16, 1, 8, 8, 1, 2),
      mma_of(DType::kF16, 40, 72, 24, 3, 1),
      mma_of(DType::kF16, 40, 72, 24, 3, 0),
      with_output(mma_of(DType::kBF16, 16, 4096, 4096, 1, 2), DType::kBF16),
      mma_of(DType::kBF16, 4096, 16, 512, 1, 7),
      mma_of(DType::kBF16, 4096, 4096, 4096, 1, 3),
      mma_of(DType::kBF16, 8192, 8192, 8192, 1, 2),
      mma_of(DType::kF16, 4097, 4095, 4096, 1, 2),
      mma_of(DType::kF16, 64, 64, 64, 1000, 5),
      mma_of(DType::kF32, 512, 1000, 516, 1, 2, Math::kTf32),
      mma_of(DType::kF32, 300, 1, 40, 1, 2, Math::kTf32),
      mma_of(DType::kBF16, 300, 8, 40, 1, 0),
      mma_of(DType::kS8, 513, 511, 272, 1, 6),
      with_output(mma_of(DType::kE5M2, 32, 4096, 4096, 1, 2), DType::kF16),
      with_output(mma_of(DType::kE4M3, 4096, 4096, 4096, 1, 2, Math::kTwoLevel), DType::kBF16),
      mma_of(DType::kE5M2, 96, 520, 2064, 2, 2, Math::kTwoLevel),
      parse_workload("gemm m=16 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row epilogue=bias+swiglu"),
      parse_workload("gemm m=100 n=144 k=1536 batch=2 a=f16:row b=f16:row c=f32:row epilogue=geglu"),
  };
  return all;
}

TEST(GemmWgmmaSpace, TenThousandSampledSchedulesLowerVerifyAndKeepTheStaticLimits) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Template family = gemm_wgmma_template();
  Limits few = cuda_limits("sm_90a");
  few.cores = 3;
  Rng rng(kSeed);
  for (const Limits& limits : {cuda_limits("sm_90a"), few}) {
    for (const Workload& workload : workloads()) {
      ASSERT_EQ(family.why_not(workload, limits), std::nullopt) << to_text(workload);
      const GemmWgmmaProblem problem = gemm_wgmma_problem(workload);
      const FamilySpace space = family.space(workload, limits);
      for (std::size_t i = 0; i < kSamples / (2 * workloads().size()) + 1; ++i) {
        const auto config = testing::sample_config(space, rng);
        ASSERT_TRUE(config) << to_text(workload) << ": no schedule found";
        SCOPED_TRACE(to_text(workload) + " " + to_text(*config));
        const ir::Kernel kernel = testing::lowered(family, workload, *config, limits);
        ASSERT_EQ(ir::why_malformed(kernel), std::nullopt);
        const ir::Launch launch = ir::launch_of(kernel);
        const auto s = testing::schedule_of<gemm_wgmma_knobs>(*config, workload, limits);
        ASSERT_EQ(launch.block[0], s.threads());
        ASSERT_LE(launch.shared_bytes, limits.shared_bytes_per_block);
        ASSERT_EQ(launch.shared_bytes, gemm_wgmma_shared_bytes(problem, s));
        const GemmWgmmaRegisters registers = gemm_wgmma_registers(problem, s);
        ASSERT_LE(128 * (registers.producer + s.consumers * registers.consumer), limits.registers_per_core);
        ASSERT_LT(gemm_wgmma_sums(problem, s), registers.consumer);
        for (const std::int64_t each :
             {registers.producer, registers.consumer}) {  // PTX ISA 9.0, "setmaxnreg"
          ASSERT_EQ(each % 8, 0);
          ASSERT_GE(each, 24);
          ASSERT_LE(each, 256);
        }
        // No driver was asked: of 132 multiprocessors, 120 hold clusters of four and of eight.
        const std::int64_t usable = limits.cores == 132 && s.cluster() > 2 ? 120 : limits.cores;
        ASSERT_TRUE(s.persistent == 0 ||
                    launch.grid[0] == std::min<std::int64_t>(gemm_wgmma_grid(problem, s, limits).tiles,
                                                             usable / s.cluster() * s.cluster()));
        ASSERT_EQ(launch.cluster, s.reduce == 1 ? s.split_k : s.cluster());
        ASSERT_EQ(launch.grid[0] % launch.cluster, 0);
      }
    }
  }
}

TEST(GemmWgmmaSpace, HoldsItsDefault) {
  const Template family = gemm_wgmma_template();
  const Limits limits = cuda_limits("sm_90a");
  for (const Workload& workload : workloads()) {
    const Config config = testing::default_of(family, workload, limits);
    EXPECT_EQ(family.space(workload, limits).why_invalid(config), std::nullopt) << to_text(config);
  }
  // This config won large squares on an H200.
  const auto default_of = [&](const Workload& workload) {
    return testing::schedule_of<gemm_wgmma_knobs>(testing::default_of(family, workload, limits), workload,
                                                  limits);
  };
  const GemmWgmmaSchedule large = default_of(workloads()[5]);
  EXPECT_EQ(large.bm, 128);
  EXPECT_EQ(large.bn, 256);
  EXPECT_EQ(large.stages, 4);
  EXPECT_EQ(large.persistent, 1);
  EXPECT_EQ(large.cluster(), 1);
  EXPECT_EQ(large.raster, 16);
  EXPECT_EQ(large.keep, 1);
  EXPECT_EQ(default_of(with_output(workloads()[5], DType::kBF16)).store, 2);
  // Few rows of C are few columns of the instruction.
  const GemmWgmmaSchedule few = default_of(workloads()[3]);
  EXPECT_EQ(few.swap_ab, 1);
  EXPECT_EQ(few.bn, 16);
  EXPECT_EQ(few.split_k, 2);
  EXPECT_EQ(few.reduce, 1);
  // Parts of a long k fill the multiprocessors with large tiles, those of a short one do not.
  const GemmWgmmaSchedule deep = default_of(mma_of(DType::kBF16, 512, 512, 16384, 1, 2));
  EXPECT_EQ(deep.bm, 128);
  EXPECT_EQ(deep.bn, 128);
  EXPECT_EQ(deep.split_k, 8);
  EXPECT_EQ(deep.reduce, 1);
  EXPECT_EQ(default_of(mma_of(DType::kBF16, 512, 512, 512, 1, 2)).bm, 64);
}

TEST(GemmWgmmaSpace, PersistentGridsAreAsManyClustersAsTheDriverCounts) {
  Limits limits = cuda_limits("sm_90a");
  limits.cores = 114;
  const Workload workload = mma_of(DType::kBF16, 8192, 8192, 4096, 1, 2);
  const GemmWgmmaProblem problem = gemm_wgmma_problem(workload);
  GemmWgmmaSchedule s;
  s.persistent = 1;
  const auto blocks = [&](std::int64_t bm, std::int64_t bn) {
    s.cluster_bm = bm;
    s.cluster_bn = bn;
    return gemm_wgmma_grid(problem, s, limits).blocks;
  };
  EXPECT_EQ(blocks(1, 1), 114);
  EXPECT_EQ(blocks(2, 1), 114);
  EXPECT_EQ(blocks(2, 2), 25 * 4);  // ten elevenths of 114 are 103
  EXPECT_EQ(blocks(4, 2), 12 * 8);
  limits.clusters_at_once = {56, 26, 13};
  EXPECT_EQ(blocks(1, 1), 114);
  EXPECT_EQ(blocks(1, 2), 56 * 2);
  EXPECT_EQ(blocks(4, 1), 26 * 4);
  EXPECT_EQ(blocks(2, 4), 13 * 8);
}

TEST(GemmWgmmaSpace, DefaultsWriteWholeLinesWhereTheSpaceHasAWay) {
  const Template family = gemm_wgmma_template();
  const Limits limits = cuda_limits("sm_90a");
  const auto default_of = [&](const char* text) {
    const Workload workload = parse_workload(text);
    return testing::schedule_of<gemm_wgmma_knobs>(testing::default_of(family, workload, limits), workload,
                                                  limits);
  };
  for (const char* const text : {"gemm m=4096 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row",
                                 "gemm m=2048 n=1024 k=512 a=f16:row b=f16:row c=f16:row epilogue=bias+relu",
                                 "gemm m=64 n=8192 k=1024 a=bf16:row b=bf16:column c=bf16:row"}) {
    const GemmWgmmaSchedule s = default_of(text);
    EXPECT_TRUE(s.staged()) << text;
    EXPECT_EQ(s.stmatrix, 1) << text;
    EXPECT_EQ(s.swap_ab, 0) << text;
  }
  const GemmWgmmaSchedule gated =
      default_of("gemm m=2048 n=28672 k=4096 a=bf16:row b=bf16:column c=bf16:row epilogue=swiglu");
  EXPECT_TRUE(gated.staged());
  EXPECT_EQ(gated.stmatrix, 0);
  // Eight bytes a lane, and lines that are no multiples of 16 bytes.
  EXPECT_FALSE(default_of("gemm m=4096 n=4096 k=4096 a=bf16:row b=bf16:column c=f32:row").staged());
  EXPECT_FALSE(default_of("gemm m=4096 n=4100 k=4096 a=bf16:row b=bf16:column c=bf16:row").staged());
}

TEST(GemmWgmmaSpace, RegistersAreDealtOutOnlyWhereThatLeavesNoRoomForASecondBlock) {
  const Limits limits = cuda_limits("sm_90a");
  const auto dealt = [&](const char* workload, const char* config) {
    const Source source =
        emit(testing::lowered(gemm_wgmma_template(), parse_workload(workload), parse_config(config), limits));
    return source.text.find("lehr_setmaxnreg_inc<", source.text.find("extern \"C\"")) != std::string::npos;
  };
  EXPECT_FALSE(
      dealt("gemm m=16 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row",
            "gemm_wgmma(swap_ab=1,bm=64,bn=16,k_atoms=1,consumers=1,ping_pong=0,persistent=0,cluster_bm=1,"
            "cluster_bn=1,split_k=1,reduce=0,keep=0,store=0,stmatrix=0,stages=8,in_flight=0,raster=1,"
            "pdl=0)"));
  EXPECT_TRUE(
      dealt("gemm m=4096 n=4096 k=4096 a=bf16:row b=bf16:column c=bf16:row",
            "gemm_wgmma(swap_ab=0,bm=128,bn=256,k_atoms=1,consumers=2,ping_pong=0,persistent=1,cluster_bm=2,"
            "cluster_bn=1,split_k=1,reduce=0,keep=0,store=2,stmatrix=1,stages=4,in_flight=1,raster=4,"
            "pdl=0)"));
}

TEST(GemmWgmma, IsPartOfTheUnionOnlyOnHopper) {
  const Workload workload = mma_of(DType::kBF16, 4096, 4096, 4096, 1, 2);
  EXPECT_NE(kernel_space(workload, cuda_limits("sm_90a")).space.family("gemm_wgmma"), nullptr);
  EXPECT_EQ(kernel_space(workload, cuda_limits("sm_80")).space.family("gemm_wgmma"), nullptr);
  // Lines that the tensor memory accelerator cannot copy are left to mma.sync.
  const Space odd = kernel_space(mma_of(DType::kBF16, 4096, 4096, 4097, 1, 2), cuda_limits("sm_90a")).space;
  EXPECT_EQ(odd.family("gemm_wgmma"), nullptr);
  EXPECT_NE(odd.family("gemm_mma"), nullptr);
}

/// mma.sync takes what wgmma or the tensor memory accelerator refuses: every type, layout and alignment has
/// schedules on the tensor cores.
TEST(GemmWgmma, LeavesNoHolesInTheUnion) {
  const Limits limits = cuda_limits("sm_90a");
  Rng rng(kSeed);
  int refused = 0;
  for (const DType type : {DType::kBF16, DType::kF16, DType::kF32, DType::kS8, DType::kE4M3, DType::kE5M2}) {
    const bool eight_bit_float = type == DType::kE4M3 || type == DType::kE5M2;
    const Math math = type == DType::kF32 ? Math::kTf32 : Math::kStrict;
    for (const Math each : {math, eight_bit_float ? Math::kTwoLevel : math}) {
      for (int layouts = 0; layouts < 8; ++layouts) {
        for (const std::int64_t size : {1, 7, 100, 129}) {
          const Workload workload = mma_of(type, size + 1, size, 3 * size + 2, 1, layouts, each);
          const Space space = kernel_space(workload, limits).space;
          refused += space.family("gemm_wgmma") == nullptr ? 1 : 0;
          ASSERT_NE(space.family("gemm_mma"), nullptr) << to_text(workload);
          EXPECT_TRUE(space.family("gemm_mma")->sample(rng)) << to_text(workload);
        }
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(GemmWgmma, SaysWhomItDoesNotServe) {
  const Template family = gemm_wgmma_template();
  const auto reason = [&](const Workload& workload, const char* arch = "sm_90a") {
    return family.why_not(workload, cuda_limits(arch)).value_or("");
  };
  EXPECT_THAT(reason(mma_of(DType::kBF16, 64, 64, 64, 1, 2), "sm_90"), HasSubstr("sm_90a"));
  EXPECT_THAT(reason(mma_of(DType::kBF16, 64, 64, 100, 1, 2)), HasSubstr("the lines of A have 200 bytes"));
  EXPECT_THAT(reason(mma_of(DType::kBF16, 64, 100, 64, 1, 0)), HasSubstr("the lines of B have 200 bytes"));
  EXPECT_THAT(reason(mma_of(DType::kS8, 64, 64, 64, 1, 0)), HasSubstr("B must be stored by columns"));
  EXPECT_THAT(reason(mma_of(DType::kE4M3, 64, 64, 64, 1, 3)), HasSubstr("A must be stored by rows"));
  EXPECT_THAT(reason(mma_of(DType::kF32, 64, 64, 64, 1, 1, Math::kTf32)), HasSubstr("only one operand"));
  for (const int layouts : {0, 2, 3})  // one operand across k at most
    EXPECT_EQ(reason(mma_of(DType::kF32, 64, 64, 64, 1, layouts, Math::kTf32)), "");
  EXPECT_THAT(reason(gemm_of(64, 64, 64, 1, 2)), HasSubstr("rounds f32 to tf32"));
  EXPECT_THAT(reason(mma_of(DType::kF64, 64, 64, 64, 1, 2)), HasSubstr("f64"));
  EXPECT_THAT(reason(with_output(mma_of(DType::kBF16, 64, 64, 64, 1, 2), DType::kF16)), HasSubstr("as f16"));
}

TEST(GemmWgmma, CountsFlopsBytesAndStagesOfItsTiles) {
  const Limits limits = cuda_limits("sm_90a");
  const Workload workload = mma_of(DType::kBF16, 2048, 2048, 1024, 1, 2);
  const Config config = parse_config(
      "gemm_wgmma(swap_ab=0, bm=128, bn=256, k_atoms=1, consumers=2, ping_pong=0, persistent=0, "
      "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=4, in_flight=1, "
      "raster=8, pdl=0)");
  const ir::Kernel kernel = testing::lowered(gemm_wgmma_template(), workload, config, limits);
  const ir::Analysis analysis = ir::analyze(kernel);
  EXPECT_EQ(analysis.flops, 2.0 * 2048 * 2048 * 1024);
  EXPECT_EQ(analysis.pipeline_depth, 4);
  EXPECT_EQ(analysis.unique_global_bytes, 2.0 * 2048 * 1024 * 2 + 2048 * 2048 * 4);
  EXPECT_EQ(analysis.global.read_bytes, 8.0 * 2048 * 1024 * 2 + 16.0 * 2048 * 1024 * 2);
  EXPECT_EQ(analysis.shared.written_bytes, analysis.global.read_bytes);
  const std::vector<float> row = featurize(kernel, limits);
  const auto feature = [&](const char* name) { return row[feature_index(name)]; };
  EXPECT_EQ(feature("intrinsic_flops_share"), 1);
  EXPECT_EQ(feature("pipeline_depth"), 4);
  EXPECT_EQ(feature("async_share"), 1);
  EXPECT_NEAR(std::exp2(feature("l1_traffic")), analysis.global.read_bytes + 2048 * 2048 * 4,
              0.1 * analysis.global.read_bytes);
}

/// A cluster of two along either side reads one operand half as often from the L2, and each multiprocessor
/// still gets all of its tiles.
TEST(GemmWgmma, ReadsWhatAClusterSharesOnce) {
  const Limits limits = cuda_limits("sm_90a");
  const Workload workload = mma_of(DType::kBF16, 2048, 2048, 1024, 1, 2);
  const double operand = 2048.0 * 1024 * 2;
  const auto analysed = [&](int along_bm, int along_bn) {
    const Config config = parse_config(
        fmt::format("gemm_wgmma(swap_ab=0, bm=128, bn=256, k_atoms=1, consumers=2, ping_pong=0, "
                    "persistent=0, cluster_bm={}, cluster_bn={}, split_k=1, reduce=0, keep=0, store=0, "
                    "stmatrix=0, stages=4, in_flight=1, raster=1, pdl=0)",
                    along_bm, along_bn));
    EXPECT_EQ(gemm_wgmma_template().space(workload, limits).why_invalid(config), std::nullopt);
    return testing::lowered(gemm_wgmma_template(), workload, config, limits);
  };
  struct Case {
    int along_bm, along_bn;
    double reads;  // of both operands: 8 columns and 16 rows of tiles
  };
  const double alone = ir::analyze(analysed(1, 1)).shared.written_bytes;
  const double shared_cycles = featurize(analysed(1, 1), limits)[feature_index("shared_cycles")];
  for (const Case& each :
       {Case{1, 1, 8 + 16}, Case{2, 1, 8 + 16 / 2}, Case{1, 2, 8 / 2 + 16}, Case{2, 2, 4 + 8},
        Case{4, 1, 8 + 4}, Case{1, 4, 2 + 16}, Case{4, 2, 4 + 4}, Case{2, 4, 2 + 8}}) {
    const ir::Kernel kernel = analysed(each.along_bm, each.along_bn);
    const ir::Analysis analysis = ir::analyze(kernel);
    EXPECT_EQ(analysis.global.read_bytes, each.reads * operand);
    EXPECT_EQ(analysis.shared.written_bytes, alone);
    EXPECT_EQ(analysis.unique_global_bytes, 2 * operand + 2048 * 2048 * 4);
    const std::vector<float> row = featurize(kernel, limits);
    EXPECT_NEAR(std::exp2(row[feature_index("l1_traffic")]), each.reads * operand + 2048 * 2048 * 4,
                0.25 * each.reads * operand);
    // Data that one block brings is written in the shared memory of each block.
    EXPECT_NEAR(row[feature_index("shared_cycles")], shared_cycles, 1e-3);
  }
}

/// No two values of a knob look alike to the model (but for tiles walked together where there are few).
TEST(GemmWgmma, ShowsEveryKnobInTheFeatures) {
  const Template family = gemm_wgmma_template();
  const Limits limits = cuda_limits("sm_90a");
  Rng rng(kSeed);
  std::set<std::string> compared;
  for (const std::int64_t m : {16, 4096}) {
    const Workload workload = with_output(mma_of(DType::kBF16, m, 4096, 4096, 1, 2), DType::kBF16);
    const FamilySpace space = family.space(workload, limits);
    for (int i = 0; i < 30; ++i) {
      const Point point = space.sample(rng).value();
      const Config config = space.config_of(point);
      const std::vector<float> row = featurize(testing::lowered(family, workload, config, limits), limits);
      for (std::size_t knob = 0; knob < space.knobs().size(); ++knob) {
        const std::string& name = space.knobs()[knob].name;
        if (name == "raster") continue;
        for (const std::uint16_t position : space.choices(point, knob)) {
          Point moved = point;
          moved.knobs[knob] = position;
          if (moved == point || !space.contains(moved)) continue;
          compared.insert(name);
          const Config other = space.config_of(moved);
          EXPECT_NE(featurize(testing::lowered(family, workload, other, limits), limits), row)
              << to_text(other) << " and " << to_text(config);
        }
      }
    }
  }
  EXPECT_EQ(compared.size(), 16u);  // all but the raster, and swap_ab, whose tiles differ as well
}

TEST(GemmWgmma, LowersTheSameConfigToTheSameKernel) {
  const Template family = gemm_wgmma_template();
  const Limits limits = cuda_limits("sm_90a");
  const Config config = testing::default_of(family, workloads()[1], limits);
  EXPECT_EQ(testing::lowered(family, workloads()[1], config, limits),
            testing::lowered(family, workloads()[1], config, limits));
}

}  // namespace
}  // namespace lehr
