// gemm_mma's emitted CUDA text, run by the emulator: every barrier, wait, fence and bound is needed. That it
// is right for all types, layouts and odd sizes is emulated_families_test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "codegen/emit.h"
#include "gemm_mma_cases.h"
#include "templates/gemm_mma.h"
#include "templates/reference.h"
#include "tests/emulator/program.h"

namespace lehr {
namespace {

using lehr::testing::mma_of;
using lehr::testing::without_one;

constexpr std::uint64_t kSeed = 7;
constexpr const char* kArch = "sm_90a";

struct Sampled {
  Workload workload;
  Config config;
};

Source source_of(const Sampled& one) {
  return emit(gemm_mma_template().lower(one.workload, one.config, cuda_limits(kArch)));
}

/// How far the worst element is from the answer, in tolerances; infinity where one is not a number.
double worst_error(const Reference& reference, const std::vector<float>& got) {
  double worst = 0;
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    const double error = std::abs(static_cast<double>(reference.values[i]) - got[i]);
    const double relative = error == 0 ? 0 : error / reference.tolerance;
    worst = std::isnan(error) ? INFINITY : std::max(worst, relative);
  }
  return worst;
}

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
  std::vector<Source> mutants;
  std::vector<std::size_t> case_of;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Config config = parse_config(cases[i].config);
    ASSERT_EQ(gemm_mma_template().space(cases[i].workload, cuda_limits(kArch)).why_invalid(config),
              std::nullopt);
    const Source source = source_of({cases[i].workload, config});
    const auto add = [&](std::vector<Source> more) {
      mutants.insert(mutants.end(), more.begin(), more.end());
      case_of.resize(mutants.size(), i);
    };
    const Gemm& g = cases[i].workload.gemm;
    add(without_one(source, "extern \"C\"", "__syncthreads();", ""));
    // Copies of the first tiles stay inside whatever their bounds say; the last tile's are in the loop.
    const std::string loop = "for (int tile";
    add(without_one(source, loop, "lehr_cp_async_wait<1>();", ""));
    add(without_one(source, loop, "lehr_cp_async_wait<0>();", ""));
    for (const std::int64_t bound : {g.m, g.n, g.k})
      add(without_one(source, loop, fmt::format("< {}", bound), fmt::format("< {}", bound + 8)));
    add(without_one(source, "", "lehr_device_fence();", ""));
    add(without_one(source, "", "atomicInc(counter, static_cast<unsigned>(last))", "atomicAdd(counter, 1u)"));
    add(without_one(source, "", "from_split + 1", "from_split"));
    add(without_one(source, "", "split * ", "0 * "));
    add(without_one(source, loop, "a_chunk", "0"));
    add(without_one(source, loop, "b_chunk", "0"));
  }
  ASSERT_GE(mutants.size(), 40u);
  const emulator::Program program(mutants);
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const Workload& workload = cases[case_of[i]].workload;
    const std::vector<std::vector<float>> inputs = make_inputs(workload, kSeed);
    const Reference reference = make_reference(workload, inputs);
    const emulator::Result run = program.run(i, {inputs[0], inputs[1]}, emulator::Order::kWarpAhead);
    EXPECT_TRUE(run.fault || worst_error(reference, run.outputs.at(0)) > 1) << "nothing found in\n"
                                                                            << mutants[i].text;
  }
}

}  // namespace
}  // namespace lehr
