// Tests of the schedules of gemv_simt: legal by construction, and which workloads it serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda_cases.h"
#include "cuda_space_checks.h"
#include "ir/analyze.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemv_simt.h"
#include "templates/gemm/cuda/gemv_simt_space.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list = {gemm_of(1, 1, 1, 1, 0),        gemm_of(8, 1, 1, 1, 0),
                                  gemm_of(1, 2, 100000, 1, 0),   gemm_of(5000, 1, 1, 1, 0),
                                  gemm_of(1, 11008, 4096, 1, 0), gemm_of(1, 4096, 4096, 1, 2),
                                  gemm_of(64, 1, 64, 1000, 0),   gemm_of(8, 128256, 4096, 1, 2)};
    for (const char* types : {"a=f16:row b=f16:column c=f32:row", "a=bf16:row b=bf16:row c=bf16:row"})
      list.push_back(parse_workload(std::string("gemm m=2 n=4096 k=1024 ") + types));
    for (int layouts = 0; layouts < 8; ++layouts) {
      list.push_back(gemm_of(3, 65, 17, 2, layouts));
      list.push_back(gemm_of(700, 6, 130, 1, layouts));
      list.push_back(gemm_of(8, 4096, 1024, 1, layouts));
    }
    return list;
  }();
  return all;
}

TEST(GemvSimtSpace, TenThousandSampledSchedulesLowerVerifyAndKeepTheStaticLimits) {
  lehr::testing::expect_legal_schedules(
      gemv_simt_template(), workloads(),
      [](const Workload& workload, const Config& config, const ir::Kernel& kernel) {
        const ir::Analysis analysis = ir::analyze(kernel);
        const auto schedule = testing::schedule_of<gemv_simt_knobs>(config, workload, cuda_limits("sm_90a"));
        ASSERT_EQ(analysis.launch.block[0], schedule.threads());
        ASSERT_EQ(analysis.shared_bytes, gemv_shared_bytes(gemv_problem(workload), schedule));
        ASSERT_GE(analysis.flops, flops_of(workload));
      });
}

TEST(GemvSimtSpace, HoldsItsDefault) {
  lehr::testing::expect_default_in_space(gemv_simt_template(), workloads());
}

TEST(GemvSimtSpace, ItsDefaultGivesEveryMultiprocessorABlock) {
  const Template gemv_simt = gemv_simt_template();
  const Limits limits = cuda_limits("sm_90a");
  for (const int layouts : {0, 2}) {
    for (const std::int64_t m : {1, 8}) {
      const Workload workload = gemm_of(m, 4096, 4096, 1, layouts);
      const Config config = testing::default_of(gemv_simt, workload, limits);
      EXPECT_GE(ir::launch_of(testing::lowered(gemv_simt, workload, config, limits)).grid[0], limits.cores)
          << to_text(config);
      EXPECT_EQ(config.at("vec"), 4);
    }
  }
}

TEST(GemvSimtSpace, ReachesEveryValueOfEveryKnob) {
  for (const int layouts : {0, 2})
    lehr::testing::expect_every_value_is_reached(
        gemv_simt_template().space(gemm_of(1, 4096, 4096, 1, layouts), cuda_limits("sm_90a")));
}

TEST(GemvSimtSpace, LoadsVectorsOnlyWhereRowsOfTheMatrixAreAligned) {
  const Limits limits = cuda_limits("sm_90a");
  const auto widest = [&](const Workload& workload) {
    return gemv_simt_template().space(workload, limits).knobs()[0].values.back();
  };
  EXPECT_EQ(widest(gemm_of(1, 64, 66, 1, 2)), 2);  // B along k: rows of 66
  EXPECT_EQ(widest(gemm_of(1, 64, 66, 1, 0)), 4);  // rows of 64
  EXPECT_EQ(widest(gemm_of(63, 2, 64, 1, 0)), 4);  // A is the matrix: rows of 64
  EXPECT_EQ(widest(gemm_of(63, 2, 64, 1, 1)), 1);  // columns of 63
}

TEST(GemvSimtSpace, LoadsSixteenBytesOfEveryType) {
  const Limits limits = cuda_limits("sm_90a");
  const Workload workload = parse_workload("gemm m=1 n=64 k=64 a=bf16:row b=bf16:column c=bf16:row");
  EXPECT_EQ(gemv_simt_template().space(workload, limits).knobs()[0].values.back(), 8);
}

TEST(GemvSimt, TakesTheLargerOperandAsTheMatrix) {
  EXPECT_FALSE(gemv_problem(gemm_of(4, 100, 8, 1, 0)).matrix_is_a);
  const GemvProblem p = gemv_problem(gemm_of(100, 4, 8, 1, 0));
  EXPECT_TRUE(p.matrix_is_a);
  EXPECT_EQ(p.vectors, 4);
  EXPECT_EQ(p.outputs, 100);
  EXPECT_TRUE(p.matrix_along_k);
  EXPECT_FALSE(p.vectors_along_k);
  EXPECT_TRUE(p.vectors_inner);
}

TEST(GemvSimt, SaysWhomItDoesNotServe) {
  const Template gemv_simt = gemv_simt_template();
  const Limits limits = cuda_limits("sm_90a");
  EXPECT_EQ(gemv_simt.why_not(gemm_of(9, 9, 8, 1, 0), limits),
            "it is made for at most 8 rows or columns of C, not 9");
  EXPECT_TRUE(gemv_simt.why_not(gemm_of(8, 8, 8, 70000, 0), limits));
  EXPECT_TRUE(why_unserved(gemv_simt, gemm_of(8, 8, 8, 1, 0), Limits{}));
  EXPECT_FALSE(gemv_simt.why_not(gemm_of(9, 8, 8, 1, 0), limits));
  const auto reason = [&](const char* types) {
    return gemv_simt.why_not(parse_workload(std::string("gemm m=1 n=8 k=8 ") + types), limits).value_or("");
  };
  EXPECT_EQ(reason("a=f16:row b=f16:row c=f32:row"), "");
  EXPECT_EQ(reason("a=bf16:row b=bf16:row c=bf16:row"), "");
  EXPECT_EQ(reason("a=s8:row b=s8:row c=f32:row"), "it multiplies f32, f16 and bf16 only, not s8");
  EXPECT_EQ(reason("a=f16:row b=f32:row c=f32:row"), "its operands have one type, not f16 and f32");
  EXPECT_EQ(reason("a=f32:row b=f32:row c=f16:row"), "C is of f32 or of the operands' type, not f16");
}

}  // namespace
}  // namespace lehr
