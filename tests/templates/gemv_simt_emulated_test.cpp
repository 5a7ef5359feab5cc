// Tests by the emulator that every bound and barrier of gemv_simt's emitted CUDA text is needed, and that the
// matrix is streamed once. emulated_families_test tests that it is right for odd sizes and all layouts.
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
#include "workload/reference.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;
using lehr::testing::Mutants;

constexpr std::uint64_t kSeed = 11;

TEST(GemvSimtEmulated, ReadsItsMatrixOnceAndComputesTheSameInEachOrder) {
  const Template gemv_simt = gemv_simt_template();
  const Limits limits = cuda_limits("sm_80");
  const std::vector<Workload> workloads = {gemm_of(1, 200, 64, 1, 0), gemm_of(300, 1, 40, 1, 3),
                                           gemm_of(3, 65, 37, 1, 5), gemm_of(8, 64, 256, 3, 2)};
  std::vector<Config> configs;
  std::vector<Source> sources;
  for (const Workload& workload : workloads) {
    configs.push_back(testing::default_of(gemv_simt, workload, limits));
    sources.push_back(emit(testing::lowered(gemv_simt, workload, configs.back(), limits)));
  }
  const emulator::Program program(sources);
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    SCOPED_TRACE(to_text(workloads[i]));
    const Gemm& g = workloads[i].gemm();
    const std::vector<std::vector<float>> inputs = make_inputs(workloads[i], kSeed);
    const emulator::Result run = program.run(i, inputs, emulator::Order::kForward);
    ASSERT_FALSE(run.fault) << *run.fault;
    // The matrix is read once, but for the elements that stand in for outputs beyond its edge.
    const std::size_t matrix = g.n < g.m ? 0 : 1;
    EXPECT_GE(run.traffic.at(matrix).read_bytes, g.batch * g.k * std::max(g.m, g.n) * 4);
    const auto schedule = testing::schedule_of<gemv_simt_knobs>(configs[i], workloads[i], limits);
    const GemvShape shape = gemv_shape(gemv_problem(workloads[i]), schedule);
    const std::int64_t covered = sources[i].launch.grid[0] * shape.outputs_per_block;
    EXPECT_LE(run.traffic.at(matrix).read_bytes, g.batch * g.k * covered * 4);
    EXPECT_EQ(program.run(i, inputs, emulator::Order::kReverse).outputs, run.outputs);  // bit for bit
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
    // Before its last k a matrix that is not contiguous along k has another element there.
    add("for (int round", ", 69)", ", 70)");
  }
  mutants.expect_each_to_be_found(kSeed);
}

}  // namespace
}  // namespace lehr
