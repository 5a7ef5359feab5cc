// gemm_mma's emitted CUDA text, run by the emulator: every barrier, wait, fence and bound is needed. That it
// is right for all types, layouts and odd sizes is emulated_families_test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "codegen/emit.h"
#include "cuda_mutants.h"
#include "gemm_mma_cases.h"
#include "target/cuda/archs.h"
#include "templates/gemm/cuda/gemm_mma.h"

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
    const Source source = emit(gemm_mma_template().lower(workload, config, limits));
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
    sources.push_back(emit(gemm_mma_template().lower(workload, config, limits)));
  const emulator::Program program(sources);
  const std::vector<std::vector<float>> inputs = make_inputs(workloads[0], kSeed);
  const double permitted[] = {make_reference(workloads[0], inputs).tolerance,
                              make_reference(workloads[1], inputs).tolerance};
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const emulator::Result run = program.run(i, {inputs[0], inputs[1]});
    ASSERT_FALSE(run.fault) << *run.fault;
    const std::vector<float>& expected = make_reference(workloads[i], inputs).values;
    double worst = 0;
    for (std::size_t j = 0; j < expected.size(); ++j)
      worst = std::max(worst, std::abs(static_cast<double>(run.outputs.at(0)[j]) - expected[j]));
    EXPECT_LE(worst, permitted[i]);
    EXPECT_EQ(worst <= permitted[1], i == 1);
  }
}

}  // namespace
}  // namespace lehr
