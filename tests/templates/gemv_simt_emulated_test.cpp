// gemv_simt's emitted CUDA text, run by the emulator: right for odd sizes and all layouts, every bound and
// barrier needed, the matrix streamed once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "cuda_cases.h"
#include "cuda_mutants.h"
#include "target/cuda/archs.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemv_simt.h"
#include "templates/gemm/cuda/gemv_simt_space.h"
#include "tests/emulator/program.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using lehr::testing::expected_of;
using lehr::testing::gemm_of;
using lehr::testing::Mutants;
using lehr::testing::random_values;
using lehr::testing::tolerance_of;
using lehr::testing::worst_error;

constexpr std::uint64_t kSeed = 11;
/// Sampled schedules per workload, beside its default.
constexpr int kSchedules = 1;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list = {gemm_of(1, 1, 1, 1, 0), gemm_of(1, 200, 64, 1, 0),
                                  gemm_of(300, 1, 40, 1, 3), gemm_of(1, 256, 512, 1, 2)};
    for (int layouts = 0; layouts < 8; ++layouts) {
      list.push_back(gemm_of(3, 65, 37, 1, layouts));
      list.push_back(gemm_of(100, 6, 130, 2, layouts));
    }
    for (const int layouts : {0, 2, 5}) list.push_back(gemm_of(8, 64, 256, 3, layouts));
    return list;
  }();
  return all;
}

TEST(GemvSimtEmulated, IsRightForOddSizesAllLayoutsAndBatches) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Template gemv_simt = gemv_simt_template();
  const Limits limits = cuda_limits("sm_80");
  Rng rng(kSeed);
  std::vector<std::pair<Workload, Config>> all;
  std::vector<Source> sources;
  for (const Workload& workload : workloads()) {
    all.emplace_back(workload, testing::default_of(gemv_simt, workload, limits));
    const FamilySpace space = gemv_simt.space(workload, limits);
    for (int i = 0; i < kSchedules; ++i)
      all.emplace_back(workload, testing::sample_config(space, rng).value());
  }
  for (const auto& [workload, config] : all)
    sources.push_back(emit(testing::lowered(gemv_simt, workload, config, limits)));
  const emulator::Program program(sources);
  rng = Rng(kSeed).fork("data");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Gemm& g = all[i].first.gemm();
    SCOPED_TRACE(to_text(all[i].first) + " " + to_text(all[i].second));
    const std::vector<float> a = random_values(g.batch * g.m * g.k, rng);
    const std::vector<float> b = random_values(g.batch * g.k * g.n, rng);
    const std::vector<double> expected = expected_of(g, a, b);
    const emulator::Result run = program.run(i, {a, b}, emulator::Order::kForward);
    ASSERT_FALSE(run.fault) << *run.fault;
    EXPECT_LE(worst_error(expected, run.outputs.at(0)), tolerance_of(g));
    EXPECT_EQ(run.traffic.at(2).written_bytes, g.batch * g.m * g.n * 4);  // each element of C once
    // The matrix is read once, but for what stands in for outputs beyond its edge.
    const std::size_t matrix = g.n < g.m ? 0 : 1;
    EXPECT_GE(run.traffic.at(matrix).read_bytes, g.batch * g.k * std::max(g.m, g.n) * 4);
    const auto schedule = testing::schedule_of<gemv_simt_knobs>(all[i].second, all[i].first, limits);
    const GemvShape shape = gemv_shape(gemv_problem(all[i].first), schedule);
    const std::int64_t covered = sources[i].launch.grid[0] * shape.outputs_per_block;
    EXPECT_LE(run.traffic.at(matrix).read_bytes, g.batch * g.k * covered * 4);
    const emulator::Result reverse = program.run(i, {a, b}, emulator::Order::kReverse);
    EXPECT_EQ(reverse.outputs, run.outputs);  // bit for bit
  }
}

TEST(GemvSimtEmulated, NeedsEveryBarrierAndBound) {
  Mutants mutants;
  for (const int layouts : {0, 2}) {
    const Workload workload = gemm_of(3, 70, 45, 1, layouts);
    const Config config =
        parse_config("gemv_simt(vec=1, lanes_k=8, warps_k=2, warps_o=1, each=2, unroll=2, min_blocks=1)");
    const Limits limits = cuda_limits("sm_80");
    ASSERT_EQ(gemv_simt_template().space(workload, limits).why_invalid(config), std::nullopt);
    const Source source = emit(testing::lowered(gemv_simt_template(), workload, config, limits));
    const auto add = [&](const char* after, const char* what, const char* instead) {
      const std::size_t before = mutants.size();
      mutants.add(source, workload, after, what, instead);
      EXPECT_GT(mutants.size(), before) << what;
    };
    const char* const kernel = "extern \"C\"";
    add(kernel, "__syncthreads();", "");
    add(kernel, "lehr_warp_sum_f32(acc + i_6, 8);", "");
    add(kernel, "< 45", "< 46");
    add(kernel, "< 70", "< 71");
    // Before its last k a matrix that is not contiguous along k has something in that place.
    add("for (int round", ", 69)", ", 70)");
  }
  mutants.expect_each_to_be_found(kSeed);
}

}  // namespace
}  // namespace lehr
