// Tests by the emulator that every barrier, wait, fence and bound of gemm_mma's emitted CUDA text is needed.
// emulated_families_test tests that it is right for all types, layouts and odd sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "codegen/emit.h"
#include "cuda_mutants.h"
#include "gemm_mma_cases.h"
#include "target/cuda/archs.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_mma.h"
#include "templates/gemm/cuda/gemm_mma_space.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using lehr::testing::mma_of;
using lehr::testing::Mutants;

constexpr std::uint64_t kSeed = 7;
constexpr const char* kArch = "sm_90a";

TEST(GemmMmaEmulated, NeedsEveryBarrierWaitAndBound) {
  struct Case {
    Workload workload;
    const char* config;
  };
  const std::vector<Case> cases = {
      {mma_of(DType::kBF16, 50, 70, 140, 1, 2),
       "gemm_mma(bm=32, bn=32, wm=16, wn=32, bk=32, k_warps=1, split_k=1, stage_c=0, stages=3, "
       "frag_buffers=1, "
       "min_blocks=1, "
       "raster=1)"},
      {mma_of(DType::kBF16, 50, 71, 141, 1, 2),
       "gemm_mma(bm=32, bn=64, wm=16, wn=32, bk=32, k_warps=1, split_k=1, stage_c=0, stages=2, "
       "frag_buffers=2, "
       "min_blocks=1, "
       "raster=2)"},
      {mma_of(DType::kBF16, 16, 70, 140, 1, 0),
       "gemm_mma(bm=16, bn=32, wm=16, wn=32, bk=64, k_warps=4, split_k=1, stage_c=1, stages=2, "
       "frag_buffers=1, "
       "min_blocks=1, "
       "raster=1)"},
      {mma_of(DType::kBF16, 16, 41, 1060, 1, 2),
       "gemm_mma(bm=16, bn=32, wm=16, wn=32, bk=64, k_warps=1, split_k=3, stage_c=0, stages=3, "
       "frag_buffers=1, "
       "min_blocks=1, "
       "raster=1)"},
      {mma_of(DType::kBF16, 16, 40, 1100, 2, 2),
       "gemm_mma(bm=16, bn=32, wm=16, wn=32, bk=128, k_warps=4, split_k=3, stage_c=1, stages=2, "
       "frag_buffers=1, "
       "min_blocks=1, "
       "raster=1)"},
  };
  Mutants mutants;
  for (const auto& [workload, text] : cases) {
    const Config config = parse_config(text);
    const Limits limits = cuda_limits(kArch);
    ASSERT_EQ(gemm_mma_template().space(workload, limits).why_invalid(config), std::nullopt);
    const Source source = emit(testing::lowered(gemm_mma_template(), workload, config, limits));
    const Gemm& g = workload.gemm();
    mutants.add(source, workload, "extern \"C\"", "__syncthreads();", "");
    // Copies of the first tiles stay inside whatever their bounds say; the last tile's are in the loop.
    const std::string loop = "for (int tile";
    mutants.add(source, workload, loop, "lehr_cp_async_wait<1>();", "");
    mutants.add(source, workload, loop, "lehr_cp_async_wait<0>();", "");
    for (const std::int64_t bound : {g.m, g.n, g.k})
      mutants.add(source, workload, loop, fmt::format("< {}", bound), fmt::format("< {}", bound + 8));
    mutants.add(source, workload, loop, "a_chunk", "0");
    mutants.add(source, workload, loop, "b_chunk", "0");
    if (config.at("split_k") > 1) mutants.add_those_of_split_k(source, workload);
  }
  ASSERT_GE(mutants.size(), 40u);
  mutants.expect_each_to_be_found(kSeed);
}

/// Returns the largest error of a kernel's output.
double worst_error(const emulator::Program& program, std::size_t kernel, const Workload& workload,
                   const std::vector<std::vector<float>>& inputs) {
  const emulator::Result run = program.run(kernel, {inputs[0], inputs[1]});
  EXPECT_FALSE(run.fault) << *run.fault;
  const std::vector<float>& expected = make_reference(workload, inputs).values;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(run.outputs.at(0)[i]) - expected[i]));
  return worst;
}

/// Sums that stay in the tensor core over a long k are worse than the mode with two levels permits.
TEST(GemmMmaEmulated, SumsOfTwoLevelsAreAsExactAsTheyPromiseAndThoseOfOneAreNot) {
  const Config config = parse_config(
      "gemm_mma(bm=32, bn=64, wm=16, wn=32, bk=64, k_warps=1, split_k=1, stage_c=0, stages=3, "
      "frag_buffers=1, min_blocks=1, raster=1)");
  std::vector<Workload> workloads;
  for (const Math math : {Math::kStrict, Math::kTwoLevel})
    workloads.push_back(mma_of(DType::kE4M3, 64, 128, 4096, 1, 2, math));
  const Limits limits = cuda_limits(kArch);
  std::vector<Source> sources;
  for (const Workload& workload : workloads)
    sources.push_back(emit(testing::lowered(gemm_mma_template(), workload, config, limits)));
  const emulator::Program program(sources);
  const std::vector<std::vector<float>> inputs = make_inputs(workloads[0], kSeed);
  const double permitted[] = {make_reference(workloads[0], inputs).tolerance,
                              make_reference(workloads[1], inputs).tolerance};
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const double worst = worst_error(program, i, workloads[i], inputs);
    EXPECT_LE(worst, permitted[i]);
    EXPECT_EQ(worst <= permitted[1], i == 1);
  }
}

/// On an H200, sums of 3xTF32 that stayed in the tensor core were wrong from k = 520 on.
TEST(GemmMmaEmulated, SumsOf3xTf32StayAsExactAsF32AndThoseOfOneLevelDoNot) {
  const Config config = parse_config(
      "gemm_mma(bm=16, bn=16, wm=16, wn=16, bk=32, k_warps=1, split_k=1, stage_c=0, stages=3, "
      "frag_buffers=1, min_blocks=1, raster=1)");
  const Limits limits = cuda_limits(kArch);
  struct Case {
    Workload workload;
    bool two_level;
  };
  const Case cases[] = {{mma_of(DType::kF32, 16, 16, 65536, 1, 2, Math::k3xTf32), true},
                        {mma_of(DType::kF32, 16, 16, 4096, 1, 2, Math::k3xTf32), false}};
  std::vector<Source> sources;
  for (const auto& [workload, two_level] : cases) {
    GemmMmaProblem problem = gemm_mma_problem(workload, limits);
    EXPECT_TRUE(problem.two_level);
    problem.two_level = two_level;
    sources.push_back(emit(
        lower_gemm_mma(workload, problem, testing::schedule_of<gemm_mma_knobs>(config, workload, limits))));
  }
  const emulator::Program program(sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::vector<std::vector<float>> inputs = make_inputs(cases[i].workload, kSeed);
    const double worst = worst_error(program, i, cases[i].workload, inputs);
    EXPECT_EQ(worst <= make_reference(cases[i].workload, inputs).tolerance, cases[i].two_level)
        << worst << " of " << make_reference(cases[i].workload, inputs).tolerance;
  }
}

}  // namespace
}  // namespace lehr
