// The analytic model ranks obvious cases and respects its roofs.
#include "costmodel/roofline_model.h"
#include "target/cuda/archs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/costmodel/kernels.h"

namespace lehr {
namespace {

using test::CpuGemm;
using test::CudaGemm;

double cpu_us(const CpuGemm& s) {
  const Limits limits = test::cpu_test_limits();
  return RooflineModel(limits).time_us(featurize(test::cpu_gemm(s), limits));
}
double cuda_us(const CudaGemm& s) {
  const Limits limits = cuda_limits("sm_80");
  return RooflineModel(limits).time_us(featurize(test::cuda_gemm(s), limits));
}

TEST(Roofline, NeverBeatsThePeakNorTheMemory) {
  const double flops = 2.0 * 512 * 512 * 512;
  EXPECT_GE(cpu_us({}), flops / (4 * 235e9) * 1e6);
  const double cuda_flops = 2.0 * 1024 * 1024 * 1024;
  EXPECT_GE(cuda_us({}), cuda_flops / 19.5e12 * 1e6);
  EXPECT_GE(cuda_us({}), 3.0 * 1024 * 1024 * 4 / 2039e9 * 1e6);
  // A good tile is within a small factor of the peak, so the bounds above are not met by a constant.
  CpuGemm good;
  good.mr = 8;
  EXPECT_LE(cpu_us(good), 2 * flops / (4 * 235e9) * 1e6);
}

TEST(Roofline, PrefersRegisterTilesThatHideLatencyAndDoNotSpill) {
  CpuGemm tiny, good, spilling;
  tiny.mr = 1;
  tiny.nv = 1;
  good.mr = 8;
  good.nv = 2;
  spilling.mr = 16;
  spilling.nv = 4;
  EXPECT_LT(cpu_us(good), 0.7 * cpu_us(tiny));
  EXPECT_LT(cpu_us(good), 0.9 * cpu_us(spilling));
}

TEST(Roofline, PrefersVectorsToScalars) {
  CpuGemm scalar, vector;
  scalar.lanes = 1;
  scalar.nv = 8;
  EXPECT_LT(cpu_us(vector), 0.3 * cpu_us(scalar));
}

TEST(Roofline, PrefersThreadTilesAndBlocksThatFillTheDevice) {
  CudaGemm naive, tiled, few;
  naive.tm = naive.tn = 1;
  naive.bm = naive.bn = 16;
  few.bm = few.bn = 512;
  few.tm = few.tn = 16;
  few.bk = 8;
  EXPECT_LT(cuda_us(tiled), cuda_us(naive));
  EXPECT_LT(cuda_us(tiled), cuda_us(few));
}

TEST(Roofline, TermsMakeUpTheTime) {
  const Limits cpu = test::cpu_test_limits(), cuda = cuda_limits("sm_80");
  const std::vector<std::pair<Limits, std::vector<float>>> cases = {
      {cpu, featurize(test::cpu_gemm({}), cpu)}, {cuda, featurize(test::cuda_gemm({}), cuda)}};
  for (const auto& [limits, row] : cases) {
    const RooflineModel model(limits);
    double longest = 0, sum = 0, added = 0;
    for (const TimeTerm& term : model.terms(row)) {
      EXPECT_GE(term.us, 0) << term.name;
      EXPECT_FALSE(term.meaning.empty()) << term.name;
      (term.overlaps ? sum : added) += term.us;
      if (term.overlaps) longest = std::max(longest, term.us);
    }
    EXPECT_GT(longest, 0);
    EXPECT_NEAR(model.time_us(row), longest + 0.1 * (sum - longest) + added, 1e-9 * sum);
  }
}

// Little's law: the same copies with fewer on their way take longer.
TEST(Roofline, PrefersMoreStagesWhereCopiesAreWhatTakesLongest) {
  const Limits limits = cuda_limits("sm_90a");
  std::vector<float> row = featurize(test::cuda_gemm({}), limits);
  const RooflineModel model(limits);
  row[feature_index("async_share")] = 1;
  row[feature_index("blocks_per_core")] = 1;
  row[feature_index("l1_traffic")] = 34;
  row[feature_index("pipeline_depth")] = 2;
  row[feature_index("shared_bytes")] = 15;
  const double two = model.time_us(row);
  row[feature_index("pipeline_depth")] = 6;
  row[feature_index("shared_bytes")] = std::log2(3 * 32768.0);
  EXPECT_LT(model.time_us(row), 0.5 * two);
}

TEST(Roofline, ScoresAreHigherForFasterRowsAndNeedNoFit) {
  const Limits limits = test::cpu_test_limits();
  RooflineModel model(limits);
  CpuGemm slow, fast;
  slow.mr = slow.nv = 1;
  fast.mr = 8;
  FeatureMatrix rows(feature_table().size());
  rows.append(featurize(test::cpu_gemm(slow), limits));
  rows.append(featurize(test::cpu_gemm(fast), limits));
  const auto before = model.predict(rows);
  EXPECT_GT(before[1], before[0]);
  Dataset data;
  append_group(data, rows, {1.0, 2.0});
  model.fit(data);
  EXPECT_EQ(model.predict(rows), before);
}

TEST(Roofline, IsFiniteForRowsOfZerosAndUnknownPeaks) {
  FeatureMatrix rows(feature_table().size());
  rows.append(std::vector<float>(feature_table().size(), 0.0f));
  for (Limits limits : {test::cpu_test_limits(), cuda_limits("sm_90a"), Limits{}}) {
    EXPECT_TRUE(std::isfinite(RooflineModel(limits).predict(rows)[0]));
    limits.peak_gflops_f32 = limits.dram_gbytes_per_s = 0;
    EXPECT_TRUE(std::isfinite(RooflineModel(limits).predict(rows)[0]));
  }
}

}  // namespace
}  // namespace lehr
