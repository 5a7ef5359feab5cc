// gemm_simt's emitted CUDA text, run by the emulator: right for odd sizes and all layouts, and every barrier
// is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/emit.h"
#include "cuda_cases.h"
#include "ir/analyze.h"
#include "templates/gemm_simt.h"
#include "templates/gemm_simt_space.h"
#include "tests/emulator/program.h"

namespace lehr {
namespace {

using lehr::testing::expected_of;
using lehr::testing::gemm_of;
using lehr::testing::random_values;
using lehr::testing::replace_all;
using lehr::testing::tolerance_of;
using lehr::testing::without_one;
using lehr::testing::worst_error;

constexpr std::uint64_t kSeed = 7;
/// Sampled schedules per workload, beside its default.
constexpr int kSchedules = 4;

const std::vector<Workload>& workloads() {
  static const std::vector<Workload> all = [] {
    std::vector<Workload> list = {gemm_of(1, 1, 1, 1, 0), gemm_of(1, 200, 64, 1, 0),
                                  gemm_of(300, 1, 40, 1, 3), gemm_of(128, 128, 32, 1, 0)};
    for (int layouts = 0; layouts < 8; ++layouts) list.push_back(gemm_of(33, 65, 17, 1, layouts));
    for (const int layouts : {0, 1, 2, 3}) list.push_back(gemm_of(7, 5, 3, 3, layouts));
    for (const int layouts : {0, 3, 5}) list.push_back(gemm_of(100, 70, 130, 3, layouts));
    for (const int layouts : {1, 2}) list.push_back(gemm_of(96, 64, 100, 1, layouts));
    return list;
  }();
  return all;
}

struct Sampled {
  Workload workload;
  Config config;
};

std::vector<Sampled> sampled() {
  const Template gemm_simt = gemm_simt_template();
  const Limits limits = cuda_limits("sm_80");
  Rng rng(kSeed);
  std::vector<Sampled> all;
  for (const Workload& workload : workloads()) {
    all.push_back({workload, gemm_simt.default_config(workload, limits)});
    const FamilySpace space = gemm_simt.space(workload, limits);
    for (int i = 0; i < kSchedules; ++i) all.push_back({workload, space.sample(rng).value()});
  }
  return all;
}

Source source_of(const Sampled& one) {
  return emit(gemm_simt_template().lower(one.workload, one.config, cuda_limits("sm_80")));
}

TEST(GemmSimtEmulated, IsRightForOddSizesAllLayoutsAndBatches) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const std::vector<Sampled> all = sampled();
  std::vector<Source> sources;
  std::transform(all.begin(), all.end(), std::back_inserter(sources), source_of);
  const emulator::Program program(sources);
  Rng rng = Rng(kSeed).fork("data");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Gemm& g = all[i].workload.gemm;
    SCOPED_TRACE(to_text(all[i].workload) + " " + to_text(all[i].config));
    const std::vector<float> a = random_values(g.batch * g.m * g.k, rng);
    const std::vector<float> b = random_values(g.batch * g.k * g.n, rng);
    const std::vector<double> expected = expected_of(g, a, b);
    const emulator::Order order = i % 2 == 0 ? emulator::Order::kForward : emulator::Order::kReverse;
    const emulator::Result run = program.run(i, {a, b}, order);
    ASSERT_FALSE(run.fault) << *run.fault;
    EXPECT_LE(worst_error(expected, run.outputs.at(0)), tolerance_of(g));
    EXPECT_EQ(run.traffic.at(2).written_bytes, g.batch * g.m * g.n * 4);  // each element of C once
    // Every element of A is read once per column of block tiles, every one of B once per row of them.
    EXPECT_EQ(run.traffic.at(0).read_bytes % (g.batch * g.m * g.k * 4), 0);
    EXPECT_EQ(run.traffic.at(1).read_bytes % (g.batch * g.k * g.n * 4), 0);
  }
}

TEST(GemmSimtEmulated, NeedsEveryBarrierWaitAndBound) {
  const Workload workload = gemm_of(50, 70, 45, 1, 0);
  std::vector<Source> mutants;
  const auto add = [&](std::vector<Source> more) { mutants.insert(mutants.end(), more.begin(), more.end()); };
  for (const char* text :
       {"gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, async=0, stages=1, k_major=0, vec_a=1, "
        "vec_b=2, pad=4, min_blocks=1, frag_buffers=1, unroll=8, raster=1, staged=0)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, async=0, stages=2, k_major=0, vec_a=1, "
        "vec_b=2, pad=4, min_blocks=1, frag_buffers=2, unroll=8, raster=2, staged=1)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, async=1, stages=3, k_major=0, vec_a=1, "
        "vec_b=2, pad=0, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=0)",
        "gemm_simt(bm=32, bn=32, tm=4, tn=4, lanes_m=4, bk=8, async=1, stages=3, k_major=1, vec_a=1, "
        "vec_b=2, pad=4, min_blocks=1, frag_buffers=1, unroll=4, raster=1, staged=1)"}) {
    const Config config = parse_config(text);
    ASSERT_EQ(gemm_simt_template().space(workload, cuda_limits("sm_80")).why_invalid(config), std::nullopt);
    const Source source = source_of({workload, config});
    add(without_one(source, "extern \"C\"", "__syncthreads();", ""));
    add(without_one(source, "extern \"C\"", "__syncwarp();", ""));
    // Loads of the first tiles stay inside whatever their bounds say; the last tile's are in the loop.
    const std::string loop = "for (int tile";
    add(without_one(source, loop, "lehr_cp_async_wait<1>();", ""));
    add(without_one(source, loop, "< 70", "< 71"));
    add(without_one(source, loop, "< 50", "< 51"));
    // The first tile holds 45 % 8 of k; where only one operand has one more, the other's zeros hide it.
    Source one_more = source;
    EXPECT_EQ(replace_all(one_more.text, " < 5 ?", " < 6 ?"), 2);
    mutants.push_back(std::move(one_more));
  }
  ASSERT_GE(mutants.size(), 33u);
  const emulator::Program program(mutants);
  Rng rng(kSeed);
  const Gemm& g = workload.gemm;
  const std::vector<float> a = random_values(g.m * g.k, rng);
  const std::vector<float> b = random_values(g.k * g.n, rng);
  const std::vector<double> expected = expected_of(g, a, b);
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const emulator::Result run = program.run(i, {a, b});
    EXPECT_TRUE(run.fault || worst_error(expected, run.outputs.at(0)) > tolerance_of(g))
        << "nothing found in\n"
        << mutants[i].text;
  }
}

TEST(GemmSimtEmulated, MovesWhatTheAnalysisOfItsTreeSays) {
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  const Template gemm_simt = gemm_simt_template();
  const Limits limits = cuda_limits("sm_80");
  const Workload workload =
      gemm_of(256, 256, 64, 1, 2);  // every tile whole: the analysis counts tails as full
  const FamilySpace space = gemm_simt.space(workload, limits);
  Rng rng(kSeed);
  std::vector<Config> configs;
  std::vector<Source> sources;
  while (configs.size() < 8) {
    const Config config = space.sample(rng).value();
    const GemmSimtSchedule schedule = gemm_simt_schedule(config);
    const cpu::Problem problem = cpu::problem_of(workload);
    // The analysis counts a guarded load for every thread, also where the first threads alone have one.
    if (gemm_simt_copy_a(problem, schedule).vectors() < schedule.threads() ||
        gemm_simt_copy_b(problem, schedule).vectors() < schedule.threads())
      continue;
    configs.push_back(config);
    sources.push_back(emit(gemm_simt.lower(workload, configs.back(), limits)));
  }
  const emulator::Program program(sources);
  const std::vector<float> a = random_values(256 * 64, rng);
  const std::vector<float> b = random_values(256 * 64, rng);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    SCOPED_TRACE(to_text(configs[i]));
    const ir::Analysis analysis = ir::analyze(gemm_simt.lower(workload, configs[i], limits));
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
