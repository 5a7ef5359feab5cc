// Tests of gemm_wgmma's emitted CUDA text, by the emulator: every mode is right, and every step of it is
// needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <optional>

#include "gemm_mma_cases.h"
#include "gemm_wgmma_faults.h"
#include "measure/core/check.h"
#include "measure/vendor/cublaslt/cublaslt_gemm.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_wgmma.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "tests/emulator/program.h"
#include "tests/support/problem_for.h"
#include "tests/support/sample_config.h"
#include "tune/task.h"

namespace lehr {
namespace {

using lehr::testing::Case;
using lehr::testing::Faults;
using lehr::testing::few_cores;
using lehr::testing::kGemmWgmmaSeed;
using lehr::testing::mma_of;
using lehr::testing::Mutants;
using lehr::testing::Sampled;
using lehr::testing::source_of;
using lehr::testing::with_output;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = {
      mma_of(DType::kBF16, 200, 136, 72, 1, 2),
      with_output(mma_of(DType::kBF16, 136, 136, 264, 1, 3), DType::kBF16),
      mma_of(DType::kF16, 264, 72, 64, 2, 0),
      with_output(mma_of(DType::kF16, 72, 264, 136, 1, 5), DType::kF16),
      mma_of(DType::kF32, 130, 100, 68, 1, 2, Math::kTf32),
      mma_of(DType::kS8, 100, 200, 272, 1, 2),
      with_output(mma_of(DType::kE4M3, 136, 136, 400, 1, 6), DType::kBF16),
      with_output(mma_of(DType::kBF16, 9, 300, 264, 3, 2), DType::kBF16),
      with_output(mma_of(DType::kBF16, 20, 72, 1048, 1, 2), DType::kBF16),
      mma_of(DType::kE4M3, 136, 72, 848, 1, 2),
      with_output(mma_of(DType::kBF16, 200, 128, 72, 1, 2), DType::kBF16),
      with_output(mma_of(DType::kE4M3, 136, 72, 592, 1, 2, Math::kTwoLevel), DType::kBF16),
      mma_of(DType::kE5M2, 136, 72, 656, 1, 2, Math::kTwoLevel),
      mma_of(DType::kE4M3, 136, 72, 144, 1, 2, Math::kTwoLevel),
      parse_workload("gemm m=136 n=272 k=264 a=bf16:row b=bf16:column c=bf16:row epilogue=bias+swiglu"),
      mma_of(DType::kS8, 72, 104, 1040, 1, 2),
      mma_of(DType::kF32, 136, 200, 100, 1, 0, Math::kTf32),
      mma_of(DType::kF32, 200, 72, 132, 2, 3, Math::kTf32),
  };
  return all;
}

/// Returns the modes of a config.
std::vector<std::string> modes_of(const Workload& workload, const GemmWgmmaSchedule& s) {
  std::vector<std::string> modes = {fmt::format("keep={}", s.keep), fmt::format("pdl={}", s.pdl)};
  const auto add = [&](bool has, std::string mode) {
    if (has) modes.push_back(std::move(mode));
  };
  add(s.consumers == 1, "single consumer");
  add(s.consumers > 1 && s.ping_pong == 0, "cooperative");
  add(s.ping_pong == 1, "ping-pong");
  add(s.persistent == 1 && s.ping_pong == 0, "persistent");
  add(s.swap_ab == 1, "swapped");
  add(s.staged(), fmt::format("store={} stmatrix={}", s.store, s.stmatrix));
  add(s.staged() && !workload.epilogue.empty(), "gated");
  add(s.cluster() > 1, fmt::format("cluster {}x{}", s.cluster_bm, s.cluster_bn));
  add(s.split_k > 1, fmt::format("split_k={} reduce={}", s.split_k, s.reduce));
  add(s.reduce == 2, "added " + std::string(name_of(workload.gemm().accum)));
  add(s.reduce == 2 && s.consumers > 1, "added by several consumers");
  add(s.split_k > 1 && s.cluster_bm * s.cluster_bn > 1, "split in clusters");
  add(workload.gemm().math == Math::kTwoLevel, "two levels");
  add(workload.gemm().math == Math::kTf32 &&
          s.accumulators() < gemm_wgmma_sums(gemm_wgmma_problem(workload), s),
      "registers");
  return modes;
}

/// Samples a config with knobs that few configs have; nullopt where it would not be in the space.
std::optional<Config> sampled(const FamilySpace& space, Rng& rng) {
  Config config = testing::sample_config(space, rng).value();
  const auto set = [&](std::string_view name, std::uint64_t value) {
    for (KnobValue& knob : config.knobs)
      if (knob.name == name) knob.value = static_cast<std::int64_t>(value);
  };
  const std::uint64_t kind = rng.below(3);
  if (kind == 1) set("reduce", rng.below(3));
  if (kind == 2) {
    set("store", 1 + rng.below(3));
    set("stmatrix", rng.below(2));
  }
  return space.why_invalid(config) ? std::nullopt : std::optional(config);
}

/// Runs each mode at least twice, on so few multiprocessors that a persistent block has several tiles.
/// emulated_families_test runs all else.
TEST(GemmWgmmaEmulated, IsRightInEachModeOnFewMultiprocessors) {
  SCOPED_TRACE(::testing::Message() << "seed " << kGemmWgmmaSeed);
  constexpr int kOfEach = 2, kDraws = 20000;
  Rng rng(kGemmWgmmaSeed);
  std::vector<Sampled> all;
  std::map<std::string, int> seen;
  for (int draw = 0; draw < kDraws; ++draw) {
    const Workload& workload = workloads()[rng.below(workloads().size())];
    const Limits limits = few_cores(static_cast<int>(1 + rng.below(4)));
    const std::optional<Config> config = sampled(gemm_wgmma_template().space(workload, limits), rng);
    if (!config) continue;
    const std::vector<std::string> modes =
        modes_of(workload, testing::schedule_of<gemm_wgmma_knobs>(*config, workload, limits));
    if (std::ranges::all_of(modes, [&](const std::string& mode) { return seen[mode] >= kOfEach; })) continue;
    for (const std::string& mode : modes) ++seen[mode];
    all.push_back({workload, limits, *config});
  }
  for (const auto& [mode, count] : seen) EXPECT_GE(count, kOfEach) << mode;
  EXPECT_EQ(seen.size(), 38u);
  std::vector<Source> sources;
  for (const Sampled& each : all) sources.push_back(source_of(each));
  const emulator::Program program(sources);
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << all[i].limits.cores << " cores " << to_text(all[i].workload) << " "
                                      << to_text(all[i].config));
    const Problem problem = problem_for(all[i].workload, kGemmWgmmaSeed + i);
    const std::vector<std::vector<float>> inputs = inputs_of(problem);
    const emulator::Result run = program.run(i, inputs, emulator::rotated(i));
    EXPECT_FALSE(run.fault) << *run.fault;
    if (run.fault) continue;
    EXPECT_EQ(compare_output(problem, run.output_bytes.at(0).data()).fault, "");
    const auto bytes = static_cast<std::int64_t>(run.output_bytes.at(0).size());
    EXPECT_EQ(run.traffic.at(2).written_bytes, bytes);  // each element once
  }
}

TEST(GemmWgmmaEmulated, NeedsEveryStep) {
  const std::vector<Case> cases = {
      {mma_of(DType::kBF16, 250, 280, 328, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=128, bn=144, k_atoms=1, consumers=2, ping_pong=0, persistent=1, "
       "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=3, in_flight=1, "
       "raster=2, pdl=0)"},
      {mma_of(DType::kBF16, 250, 140, 328, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=64, bn=80, k_atoms=1, consumers=2, ping_pong=1, persistent=1, cluster_bm=1, "
       "cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=4, in_flight=0, raster=1, "
       "pdl=0)"},
      {mma_of(DType::kBF16, 136, 200, 328, 1, 1),
       "gemm_wgmma(swap_ab=0, bm=128, bn=96, k_atoms=2, consumers=1, ping_pong=0, persistent=0, "
       "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=2, in_flight=1, "
       "raster=1, pdl=0)"},
  };
  Mutants mutants;
  for (const Case& one : cases) {
    const Faults faults(one);
    const auto add = [&](const std::string& what, const std::string& instead) {
      faults.plant(mutants, what, instead);
    };
    const GemmWgmmaSchedule s = faults.schedule();
    const int consumers = s.ping_pong == 1 ? 1 : static_cast<int>(s.consumers);
    add("__syncthreads();", "");
    add("lehr_elect_one(elected);", "");
    add("lehr_elect_one(elected);", "elected[0] = 1;");
    add("lehr_wgmma_fence();", "");
    add("lehr_wgmma_commit();", "");
    add("lehr_wgmma_wait<0>();", "");
    if (s.in_flight == 1) add("lehr_wgmma_wait<1>();", "");
    add("lehr_mbarrier_wait(", "(void)(");
    add("lehr_mbarrier_arrive(", "(void)(");
    add("lehr_mbarrier_expect_tx(", "(void)(");
    add("lehr_tma_load_2d<0>(", "(void)(");
    for (const int wrong : {consumers - 1, consumers + 1})
      add(fmt::format("(empty + stage * 2, {})", consumers), fmt::format("(empty + stage * 2, {})", wrong));
    add("__shfl_sync(0xFFFFFFFF, thread / 128, 0)", "__shfl_sync(0xFFFFFFFF, thread / 16, 0)");
    add(" % 2);", " % 2 == 0);");
    add("128, ", "64, ");
    add("1024, ", "512, ");
    for (const std::int64_t bound : {one.workload.gemm().m, one.workload.gemm().n})
      add(fmt::format("< {}", bound), fmt::format("< {}", bound + 8));
  }
  ASSERT_GE(mutants.size(), 46u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

TEST(GemmWgmmaEmulated, NeedsEveryStepOfTheStore) {
  const std::vector<Case> cases = {
      {with_output(mma_of(DType::kBF16, 250, 280, 136, 1, 2), DType::kBF16),
       "gemm_wgmma(swap_ab=0, bm=128, bn=160, k_atoms=1, consumers=2, ping_pong=0, persistent=1, "
       "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=1, stmatrix=0, stages=3, in_flight=1, "
       "raster=2, pdl=0)"},
      {mma_of(DType::kBF16, 250, 140, 136, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=64, bn=80, k_atoms=1, consumers=2, ping_pong=1, persistent=1, cluster_bm=1, "
       "cluster_bn=1, split_k=1, reduce=0, keep=0, store=1, stmatrix=0, stages=2, in_flight=0, raster=1, "
       "pdl=0)"},
      {with_output(mma_of(DType::kF16, 250, 280, 136, 1, 2), DType::kF16),
       "gemm_wgmma(swap_ab=0, bm=128, bn=160, k_atoms=1, consumers=2, ping_pong=0, persistent=1, "
       "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=1, stmatrix=1, stages=3, in_flight=1, "
       "raster=2, pdl=0)"},
      // An odd number of boxes, and an even one.
      {with_output(mma_of(DType::kBF16, 250, 280, 136, 1, 2), DType::kBF16),
       "gemm_wgmma(swap_ab=0, bm=128, bn=160, k_atoms=1, consumers=2, ping_pong=0, persistent=1, "
       "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=2, stmatrix=1, stages=3, in_flight=1, "
       "raster=2, pdl=0)"},
      {mma_of(DType::kBF16, 250, 256, 136, 1, 2),
       "gemm_wgmma(swap_ab=0, bm=64, bn=128, k_atoms=1, consumers=2, ping_pong=1, persistent=1, "
       "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=2, stmatrix=0, stages=2, in_flight=0, "
       "raster=1, pdl=0)"},
      {with_output(mma_of(DType::kBF16, 250, 280, 136, 1, 2), DType::kBF16),
       "gemm_wgmma(swap_ab=0, bm=128, bn=160, k_atoms=1, consumers=2, ping_pong=0, persistent=0, "
       "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=3, stmatrix=1, stages=2, in_flight=1, "
       "raster=2, pdl=0)"},
  };
  Mutants mutants;
  for (const Case& one : cases) {
    const Faults faults(one);
    if (faults.schedule().stmatrix == 1) {
      faults.plant(mutants, "lehr_stmatrix_x4(", "(void)(");
      faults.plant(mutants, "lane % 16", "lane % 8");
      faults.plant(mutants, "lane / 16", "lane / 8 % 2");
      faults.plant(mutants, "converted[matrix * 2", "converted[matrix % 2 * 2");
    }
    faults.plant(mutants, "lehr_async_proxy_fence();", "");
    faults.plant(mutants, "lehr_named_barrier(", "(void)(");
    faults.plant(mutants, "lehr_tma_store_commit();", "");
    const std::int64_t store = faults.schedule().store;
    faults.plant(mutants, "lehr_tma_store_wait<0>();", "");
    if (store == 2) {
      faults.plant(mutants, "lehr_tma_store_wait<1>();", "");
      faults.plant(mutants, "lehr_tma_store_wait<1>();", "lehr_tma_store_wait<2>();");
      faults.plant(mutants, "c_box % 2", "0");
    }
    if (store == 3) {
      faults.plant(mutants, "lehr_named_barrier(3, 256);", "");
      faults.plant(mutants, "lehr_named_barrier(3, 256);", "lehr_named_barrier(consumer + 1);");
    }
    faults.plant(mutants, "lehr_tma_store_2d(", "(void)(");
    faults.plant(mutants, "lehr_elect_one(elected_3);",
                 "elected_3[0] = thread % 32 == 0;");  // a warp that has not issued waits
    // Consumers that take turns hardly ever meet at one barrier.
    if (faults.schedule().ping_pong == 0) faults.plant(mutants, "(consumer + 1)", "(1)");
    faults.plant(mutants, " ^ ", " + ");
  }
  ASSERT_GE(mutants.size(), 60u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

TEST(GemmWgmmaEmulated, NeedsEveryStepOfAGateAcrossRows) {
  const Faults faults(
      {parse_workload("gemm m=20 n=136 k=136 a=bf16:row b=bf16:column c=bf16:row epilogue=geglu"),
       "gemm_wgmma(swap_ab=1, bm=64, bn=24, k_atoms=1, consumers=1, ping_pong=0, persistent=0, "
       "cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=2, in_flight=0, "
       "raster=1, pdl=0)"});
  Mutants mutants;
  faults.plant(mutants, "lehr_warp_exchange_f32(other, 8);", "");
  faults.plant(mutants, "lehr_warp_exchange_f32(other, 8);", "lehr_warp_exchange_f32(other, 16);");
  faults.plant(mutants, "lane / 4 % 2", "lane / 8 % 2");
  faults.plant(mutants, "odd == 1 ?", "odd == 0 ?");
  faults.plant(mutants, "odd * 8", "8");
  faults.plant(mutants, "< 136", "< 144");
  faults.plant(mutants, "< 20", "< 24");
  ASSERT_GE(mutants.size(), 8u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

TEST(GemmWgmmaEmulated, NeedsEveryStepOfRowsFromRegisters) {
  const std::vector<Case> cases = {
      {mma_of(DType::kF32, 136, 200, 328, 1, 0, Math::kTf32),
       "gemm_wgmma(swap_ab=1, bm=128, bn=80, k_atoms=1, consumers=2, ping_pong=0, persistent=1, "
       "cluster_bm=1, "
       "cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=2, in_flight=0, raster=1, "
       "pdl=0)"},
      {mma_of(DType::kF32, 200, 136, 328, 1, 3, Math::kTf32),
       "gemm_wgmma(swap_ab=0, bm=128, bn=80, k_atoms=2, consumers=1, ping_pong=0, persistent=1, "
       "cluster_bm=1, "
       "cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=2, in_flight=0, raster=1, "
       "pdl=0)"}};
  Mutants mutants;
  for (const Case& one : cases) {
    const Faults faults(one);
    faults.plant(mutants, "lehr_wgmma_fence();", "");
    faults.plant(mutants, "lehr_wgmma_wait<0>();", "");
    faults.plant(mutants, "lehr_mbarrier_wait(", "(void)(");
    // One warp speaks for all, though each warp has read its own share.
    faults.plant(mutants, "empty + stage_2 * 2, member % 32 == 0",
                 "empty + stage_2 * 2, (member == 0) + (member == 1) + (member == 2) + (member == 3)");
    faults.plant(mutants, "reg / 2 * 4", "reg % 2 * 4");
    faults.plant(mutants, " ^ ", " + ");
    faults.plant(mutants, "fragments + ", "fragments + 0 * ");
  }
  ASSERT_GE(mutants.size(), 14u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

TEST(GemmWgmmaEmulated, NeedsEveryStepOfTheTwoLevels) {
  const Faults faults({mma_of(DType::kE4M3, 72, 200, 592, 1, 2, Math::kTwoLevel),
                       "gemm_wgmma(swap_ab=0, bm=128, bn=96, k_atoms=2, consumers=1, ping_pong=0, "
                       "persistent=0, cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, "
                       "stmatrix=0, stages=2, in_flight=0, raster=1, pdl=0)"});
  Mutants mutants;
  faults.plant(mutants, "lehr_wgmma_fence();", "");
  faults.plant(mutants, "lehr_wgmma_commit();", "");
  faults.plant(mutants, "lehr_wgmma_wait<0>();", "");
  faults.plant(mutants, "1024, k);", "1024, 1);");  // the first level's sums go on
  faults.plant(mutants, "1024, k);", "1024, 0);");
  faults.plant(mutants, " + first_level[e_2]", "");
  faults.plant(mutants, "= 0.0f", "= 1.0f");
  faults.plant(mutants, "(group * 4 + k) / 4", "k / 4");
  ASSERT_GE(mutants.size(), 9u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

/// Where all of k is one stage, the accumulators begin with its first sums.
TEST(GemmWgmmaEmulated, NeedsEveryStepOfTheTwoLevelsInOneStage) {
  Mutants mutants;
  const Faults one_group({mma_of(DType::kE4M3, 72, 200, 112, 1, 2, Math::kTwoLevel),
                          "gemm_wgmma(swap_ab=0, bm=128, bn=96, k_atoms=1, consumers=1, ping_pong=0, "
                          "persistent=0, cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, "
                          "stmatrix=0, stages=2, in_flight=0, raster=1, pdl=0)"});
  one_group.plant(mutants, "lehr_wgmma_fence();", "");
  one_group.plant(mutants, "lehr_wgmma_commit();", "");
  one_group.plant(mutants, "lehr_wgmma_wait<0>();", "");
  one_group.plant(mutants, "1024, kt_2 + k);", "1024, 0);");
  const Faults two_groups({mma_of(DType::kE4M3, 72, 200, 240, 1, 2, Math::kTwoLevel),
                           "gemm_wgmma(swap_ab=0, bm=128, bn=96, k_atoms=2, consumers=1, ping_pong=0, "
                           "persistent=0, cluster_bm=1, cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, "
                           "stmatrix=0, stages=2, in_flight=0, raster=1, pdl=0)"});
  two_groups.plant(mutants, "lehr_wgmma_fence();", "");
  two_groups.plant(mutants, " + first_level[e]", "");
  two_groups.plant(mutants, "(k_2 + 4) / 4", "k_2 / 4");
  ASSERT_GE(mutants.size(), 8u);
  mutants.expect_each_to_be_found(kGemmWgmmaSeed);
}

/// The mode prevents this: with long k, sums that stay in the tensor core are worse than it permits.
TEST(GemmWgmmaEmulated, SumsOfTwoLevelsAreAsExactAsTheyPromiseAndThoseOfOneAreNot) {
  const char* const config =
      "gemm_wgmma(swap_ab=0, bm=64, bn=64, k_atoms=1, consumers=1, ping_pong=0, persistent=0, cluster_bm=1, "
      "cluster_bn=1, split_k=1, reduce=0, keep=0, store=0, stmatrix=0, stages=4, in_flight=0, raster=1, "
      "pdl=0)";
  std::vector<Workload> workloads;
  for (const DType type : {DType::kE4M3, DType::kE5M2})
    for (const Math math : {Math::kStrict, Math::kTwoLevel})
      workloads.push_back(mma_of(type, 128, 64, 4096, 1, 2, math));
  std::vector<Source> sources;
  for (const Workload& w : workloads) sources.push_back(source_of({w, few_cores(2), parse_config(config)}));
  const emulator::Program program(sources);
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    SCOPED_TRACE(to_text(workloads[i]));
    const bool two_level = workloads[i].gemm().math == Math::kTwoLevel;
    Problem problem = problem_for(workloads[i], kGemmWgmmaSeed);
    // The library gets the same request.
    EXPECT_EQ(cublaslt::lt_gemm(workloads[i], false).fast_accumulation, !two_level);
    const emulator::Result run = program.run(i, inputs_of(problem));
    ASSERT_FALSE(run.fault) << *run.fault;
    EXPECT_EQ(compare_output(problem, run.output_bytes.at(0).data()).fault, "");
    Workload other = workloads[i];
    other.gemm().math = Math::kTwoLevel;
    output_argument(problem).absolute = problem_for(other, kGemmWgmmaSeed).arguments[2].absolute;
    EXPECT_EQ(compare_output(problem, run.output_bytes.at(0).data()).fault.empty(), two_level);
  }
}

}  // namespace
}  // namespace lehr
