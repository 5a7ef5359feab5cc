// gemm_simt's emitted CUDA text, run by the emulator: every barrier, wait, fence and bound is needed. That it
// is right for all layouts and odd sizes is emulated_families_test's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/emit.h"
#include "cuda_cases.h"
#include "cuda_mutants.h"
#include "ir/analyze.h"
#include "target/cuda/archs.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_simt.h"
#include "templates/gemm/cuda/gemm_simt_space.h"
#include "tests/emulator/program.h"
#include "tests/support/sample_config.h"

namespace lehr {
namespace {

using lehr::testing::gemm_of;
using lehr::testing::Mutants;
using lehr::testing::random_values;
using lehr::testing::replace_all;

constexpr std::uint64_t kSeed = 7;
Source source_of(const Workload& workload, const char* text) {
  const Config config = parse_config(text);
  EXPECT_EQ(gemm_simt_template().space(workload, cuda_limits("sm_80")).why_invalid(config), std::nullopt);
  return emit(testing::lowered(gemm_simt_template(), workload, config, cuda_limits("sm_80")));
}

TEST(GemmSimtEmulated, NeedsEveryBarrierWaitAndBound) {
  const Workload workload = gemm_of(50, 70, 45, 1, 0);
  Mutants mutants;
  for (const char* text :
       {"gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=0, stages=1, k_major=0, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=1, unroll=8, raster=1, staged=0)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=0, stages=2, k_major=0, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=2, unroll=8, raster=2, staged=1)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=1, stages=3, k_major=0, "
        "vec_a=1, vec_b=2, pad=0, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=0)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, split_k=1, async=1, stages=3, k_major=1, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=1)"}) {
    const Source source = source_of(workload, text);
    mutants.add(source, workload, "extern \"C\"", "__syncthreads();", "");
    mutants.add(source, workload, "extern \"C\"", "__syncwarp();", "");
    // Loads of the first tiles stay inside whatever their bounds say; the last tile's are in the loop.
    const std::string loop = "for (int tile";
    mutants.add(source, workload, loop, "lehr_cp_async_wait<1>();", "");
    mutants.add(source, workload, loop, "< 70", "< 71");
    mutants.add(source, workload, loop, "< 50", "< 51");
    // The first tile holds 45 % 8 of k; where only one operand has one more, the other's zeros hide it.
    Source one_more = source;
    EXPECT_EQ(replace_all(one_more.text, " < 5 ?", " < 6 ?"), 2);
    mutants.add(std::move(one_more), workload);
  }
  ASSERT_GE(mutants.size(), 33u);
  mutants.expect_each_to_be_found(kSeed);
}

TEST(GemmSimtEmulated, BlocksThatSplitKNeedEveryBarrierFenceAndSlot) {
  const Workload workload = gemm_of(40, 30, 1056, 2, 0);
  Mutants mutants;
  for (const char* text :
       {"gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=16, split_k=4, async=0, stages=2, k_major=0, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=2, unroll=8, raster=1, staged=0)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=32, split_k=2, async=1, stages=3, k_major=1, "
        "vec_a=1, vec_b=2, pad=4, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=0)"}) {
    const Source source = source_of(workload, text);
    mutants.add(source, workload, "extern \"C\"", "__syncthreads();", "");
    mutants.add_those_of_split_k(source, workload);
  }
  mutants.expect_each_to_be_found(kSeed);
}

TEST(GemmSimtEmulated, MovesWhatTheAnalysisOfItsTreeSays) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Template gemm_simt = gemm_simt_template();
  const Limits limits = cuda_limits("sm_80");
  // Every tile whole: the analysis counts tails as full.
  const Workload workload = gemm_of(256, 256, 64, 1, 2);
  const FamilySpace space = gemm_simt.space(workload, limits);
  Rng rng(kSeed);
  std::vector<Config> configs;
  std::vector<Source> sources;
  while (configs.size() < 8) {
    const Config config = testing::sample_config(space, rng).value();
    const auto schedule = testing::schedule_of<gemm_simt_knobs>(config, workload, limits);
    const ProductView problem = product_view(workload);
    // The analysis counts a guarded load for every thread, also where the first threads alone have one.
    if (gemm_simt_copy_a(problem, schedule).vectors() < schedule.threads() ||
        gemm_simt_copy_b(problem, schedule).vectors() < schedule.threads())
      continue;
    configs.push_back(config);
    sources.push_back(emit(testing::lowered(gemm_simt, workload, configs.back(), limits)));
  }
  const emulator::Program program(sources);
  const std::vector<float> a = random_values(256 * 64, rng);
  const std::vector<float> b = random_values(256 * 64, rng);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    SCOPED_TRACE(to_text(configs[i]));
    const ir::Analysis analysis = ir::analyze(testing::lowered(gemm_simt, workload, configs[i], limits));
    const emulator::Result run = program.run(i, {a, b});
    ASSERT_FALSE(run.fault) << *run.fault;
    EXPECT_EQ(analysis.flops, 2.0 * 256 * 256 * 64);
    EXPECT_EQ(analysis.global.written_bytes, static_cast<double>(run.traffic.at(2).written_bytes));
    // Prefetches stand under an If that the last tiles do not take, and the analysis counts both: as many
    // tiles more as are in flight. The same holds for the fragments of the next k.
    const double tiles = 64.0 / static_cast<double>(configs[i].at("bk"));
    const double read = static_cast<double>(run.traffic.at(0).read_bytes + run.traffic.at(1).read_bytes);
    const double ahead = configs[i].at("async") == 1 ? static_cast<double>(configs[i].at("stages") - 1) : 1;
    EXPECT_GE(analysis.global.read_bytes, read);
    EXPECT_LE(analysis.global.read_bytes, read * (tiles + ahead) / tiles);
    const double fragments = static_cast<double>(run.shared.read_bytes);
    const double bk = static_cast<double>(configs[i].at("bk"));
    EXPECT_GE(analysis.shared.read_bytes, fragments);
    EXPECT_LE(analysis.shared.read_bytes,
              configs[i].at("frag_buffers") == 2 ? fragments * (bk + 1) / bk : fragments);
  }
}

}  // namespace
}  // namespace lehr
