// gemm_mma's emitted CUDA text, run by the emulator: right for odd sizes, all layouts and types, and every
// barrier, wait and bound is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "codegen/emit.h"
#include "gemm_mma_cases.h"
#include "templates/gemm_mma.h"
#include "templates/reference.h"
#include "tests/emulator/program.h"

namespace lehr {
namespace {

using lehr::testing::mma_of;
using lehr::testing::with_output;
using lehr::testing::without_one;

constexpr std::uint64_t kSeed = 7;
constexpr const char* kArch = "sm_90a";

/// Sampled schedules per workload, beside its default.
int schedules_per_workload() {
  const char* text = std::getenv("LEHR_TEST_SCHEDULES");
  return text == nullptr ? 1 : std::atoi(text);
}

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list = {mma_of(DType::kBF16, 1, 1, 1, 1, 0),
                                  mma_of(DType::kBF16, 9, 136, 264, 1, 2),
                                  mma_of(DType::kF16, 130, 7, 40, 2, 1),
                                  with_output(mma_of(DType::kF16, 64, 96, 128, 1, 2), DType::kF16)};
    for (int layouts = 0; layouts < 8; ++layouts) {
      list.push_back(mma_of(DType::kBF16, 33, 65, 37, 1, layouts));
      list.push_back(with_output(mma_of(DType::kBF16, 72, 40, 104, 2, layouts), DType::kBF16));
    }
    for (const int layouts : {0, 1, 2, 3}) {
      list.push_back(mma_of(DType::kF16, 34, 66, 130, 1, layouts));
      list.push_back(mma_of(DType::kF32, 20, 36, 50, 1, layouts, Math::kTf32));
      list.push_back(mma_of(DType::kF32, 65, 33, 27, 1, layouts, Math::k3xTf32));
      list.push_back(mma_of(DType::kS8, 65, 34, 132, 1, layouts));
      list.push_back(mma_of(DType::kS8, 17, 33, 99, 2, layouts));
    }
    list.push_back(mma_of(DType::kE4M3, 40, 24, 70, 1, 2));
    list.push_back(with_output(mma_of(DType::kE5M2, 33, 48, 64, 1, 1), DType::kBF16));
    return list;
  }();
  return all;
}

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

TEST(GemmMmaEmulated, IsRightForOddSizesAllLayoutsTypesAndBatches) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Template gemm_mma = gemm_mma_template();
  const Limits limits = cuda_limits(kArch);
  Rng rng(kSeed);
  std::vector<Sampled> all;
  for (const Workload& workload : workloads()) {
    all.push_back({workload, gemm_mma.default_config(workload, limits)});
    const FamilySpace space = gemm_mma.space(workload, limits);
    for (int i = 0; i < schedules_per_workload(); ++i) all.push_back({workload, space.sample(rng).value()});
  }
  std::vector<Source> sources;
  std::transform(all.begin(), all.end(), std::back_inserter(sources), source_of);
  const emulator::Program program(sources);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Gemm& g = all[i].workload.gemm;
    SCOPED_TRACE(to_text(all[i].workload) + " " + to_text(all[i].config));
    const std::vector<std::vector<float>> inputs = make_inputs(all[i].workload, kSeed + i);
    const Reference reference = make_reference(all[i].workload, inputs);
    const emulator::Result run = program.run(i, {inputs[0], inputs[1]}, emulator::rotated(i));
    EXPECT_FALSE(run.fault) << *run.fault;
    if (run.fault) continue;
    EXPECT_LE(worst_error(reference, run.outputs.at(0)), 1);
    EXPECT_EQ(run.traffic.at(2).written_bytes, g.batch * g.m * g.n * size_of(g.c.type));  // each element once
    EXPECT_EQ(run.traffic.at(0).read_bytes % (g.batch * g.m * g.k * size_of(g.a.type)), 0);
    EXPECT_EQ(run.traffic.at(1).read_bytes % (g.batch * g.k * g.n * size_of(g.b.type)), 0);
  }
}

TEST(GemmMmaEmulated, NeedsEveryBarrierWaitAndBound) {
  struct Case {
    Workload workload;
    const char* config;
  };
  const std::vector<Case> cases = {
      {mma_of(DType::kBF16, 50, 70, 140, 1, 2),
       "gemm_mma(bm=32, bn=32, wm=16, wn=32, bk=32, k_warps=1, stage_c=0, stages=3, frag_buffers=1, "
       "min_blocks=1, "
       "raster=1)"},
      {mma_of(DType::kBF16, 50, 71, 141, 1, 2),
       "gemm_mma(bm=32, bn=64, wm=16, wn=32, bk=32, k_warps=1, stage_c=0, stages=2, frag_buffers=2, "
       "min_blocks=1, "
       "raster=2)"},
      {mma_of(DType::kBF16, 16, 70, 140, 1, 0),
       "gemm_mma(bm=16, bn=32, wm=16, wn=32, bk=64, k_warps=4, stage_c=1, stages=2, frag_buffers=1, "
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
    add(without_one(source, loop, "a_chunk", "0"));
    add(without_one(source, loop, "b_chunk", "0"));
  }
  ASSERT_GE(mutants.size(), 20u);
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
