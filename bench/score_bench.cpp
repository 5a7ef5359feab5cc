// Measures how many candidates a second the search can score, and which step bounds it: sample, mutate,
// lower, featurise, predict, all of it through the scorer that a session uses, and whole proposals. One
// thread each, except the last two.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_set>

#include "codegen/emit.h"
#include "costmodel/features.h"
#include "costmodel/xgboost_model.h"
#include "ir/analyze.h"
#include "search/anneal.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tune/scorer.h"
#include "tune/task.h"

namespace lehr {
namespace {

/// The task that is searched: a benchmark's argument.
struct Case {
  std::string_view label;
  Target target;
  std::string_view workload;
};
constexpr int kScoreThreads = 2;
constexpr std::array<Case, 3> kCases = {{
    {"cpu families", Target::kCpu, "gemm m=1024 n=1024 k=1024"},
    {"cuda families", Target::kCuda, "gemm m=1024 n=1024 k=1024"},
    {"cuda families, tensor cores", Target::kCuda, "gemm m=1024 n=1024 k=1024 a=f16 b=f16"},
}};

Limits limits_of(const Case& of) {
  if (of.target == Target::kCuda) return cuda_limits("sm_90a");
  Limits limits;
  limits.arch = "avx512";
  limits.cores = 2;
  limits.vector_bytes = 64;
  limits.vector_registers = 32;
  limits.l1_bytes = 48 << 10;
  limits.l2_bytes = 2 << 20;
  limits.l3_bytes = 32 << 20;
  limits.peak_gflops_f32 = 300;
  limits.dram_gbytes_per_s = 30;
  return limits;
}

Task task_for(const Case& of) {
  Device device;
  device.limits = limits_of(of);
  return task_of(parse_workload(of.workload), device);
}

KernelSpace kernels_for(const Case& of) {
  return kernel_space(parse_workload(of.workload), limits_of(of));
}

std::vector<Point> samples(const Space& space, std::size_t n) {
  Rng rng(1);
  std::unordered_set<Point, PointHash> seen;
  std::vector<Point> result;
  while (result.size() < n) {
    Point point = space.sample(rng);
    if (seen.insert(point).second) result.push_back(point);
  }
  return result;
}

// Returns a stand-in for a measurement, which a forest can learn from the row; no two configs are alike.
double time_us(std::span<const float> row) {
  double time = 100;
  for (std::size_t i = 0; i < row.size(); i += 3) time += std::min(50.0f, std::abs(row[i]));
  return time;
}

// Returns a forest of the size that a session of some hundred trials fits.
XgboostModel fitted_model(const Candidates& candidates) {
  const std::vector<Point> points = samples(candidates.space, 256);
  FeatureMatrix rows(candidates.columns);
  std::vector<float> row(candidates.columns);
  std::vector<double> times_us;
  for (const Point& point : points) {
    candidates.row_of(point, row);
    rows.append(row);
    times_us.push_back(time_us(row));
  }
  XgboostModel model;
  Dataset data;
  append_group(data, rows, times_us);
  model.fit(data);
  return model;
}

const Case& case_of(const benchmark::State& state) {
  return kCases[static_cast<std::size_t>(state.range(0))];
}

void label(benchmark::State& state) {
  state.SetLabel(std::string(case_of(state).label));
  state.SetItemsProcessed(state.iterations());
}

void Sample(benchmark::State& state) {
  const Candidates candidates = candidates_for(task_for(case_of(state)));
  Rng rng(2);
  for (auto _ : state) benchmark::DoNotOptimize(candidates.space.sample(rng));
  label(state);
}
BENCHMARK(Sample)->DenseRange(0, 2);

void Mutate(benchmark::State& state) {
  const Candidates candidates = candidates_for(task_for(case_of(state)));
  const std::vector<Point> points = samples(candidates.space, 256);
  Rng rng(2);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(candidates.space.mutate(points[i++ % points.size()], rng));
  label(state);
}
BENCHMARK(Mutate)->DenseRange(0, 2);

void Lower(benchmark::State& state) {
  const KernelSpace all = kernels_for(case_of(state));
  const std::vector<Point> points = samples(all.space, 256);
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(all.lower(points[i++ % points.size()]));
  label(state);
}
BENCHMARK(Lower)->DenseRange(0, 2);

void Analyze(benchmark::State& state) {
  const KernelSpace all = kernels_for(case_of(state));
  std::vector<ir::Kernel> kernels;
  for (const Point& point : samples(all.space, 64)) kernels.push_back(all.lower(point));
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ir::analyze(kernels[i++ % kernels.size()]));
  label(state);
}
BENCHMARK(Analyze)->DenseRange(0, 2);

void AnalyzeAndFeaturize(benchmark::State& state) {
  const Limits limits = limits_of(case_of(state));
  const KernelSpace all = kernels_for(case_of(state));
  std::vector<ir::Kernel> kernels;
  for (const Point& point : samples(all.space, 64)) kernels.push_back(all.lower(point));
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(featurize(kernels[i++ % kernels.size()], limits));
  label(state);
}
BENCHMARK(AnalyzeAndFeaturize)->DenseRange(0, 2);

void PredictBatch(benchmark::State& state) {
  const Candidates candidates = candidates_for(task_for(case_of(state)));
  const XgboostModel model = fitted_model(candidates);
  FeatureMatrix rows(feature_table().size());
  std::vector<float> row(candidates.columns);
  for (const Point& point : samples(candidates.space, 128)) {
    candidates.row_of(point, row);
    rows.append(row);
  }
  for (auto _ : state) benchmark::DoNotOptimize(model.predict(rows));
  label(state);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows.rows()));
}
BENCHMARK(PredictBatch)->DenseRange(0, 2);

void Emit(benchmark::State& state) {
  const KernelSpace all = kernels_for(case_of(state));
  std::vector<ir::Kernel> kernels;
  for (const Point& point : samples(all.space, 64)) kernels.push_back(all.lower(point));
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(emit(kernels[i++ % kernels.size()]));
  label(state);
}
BENCHMARK(Emit)->DenseRange(0, 2);

// Scores configs that the search has not seen: AST, features and prediction, two threads, batches of 128.
void ScoreNewCandidates(benchmark::State& state) {
  constexpr std::size_t kBatch = 128;
  const Candidates candidates = candidates_for(task_for(case_of(state)));
  const XgboostModel model = fitted_model(candidates);
  const std::vector<Point> points = samples(candidates.space, 16384);
  const lehr::Predict predict = [&](const FeatureMatrix& rows) { return model.predict(rows); };
  std::size_t at = points.size();
  std::optional<Scorer> scorer;
  for (auto _ : state) {
    if (at + kBatch > points.size()) {  // a fresh scorer remembers nothing
      state.PauseTiming();
      scorer.emplace(feature_table().size(), candidates.row_of, kScoreThreads);
      at = 0;
      state.ResumeTiming();
    }
    benchmark::DoNotOptimize(scorer->score(std::span(points).subspan(at, kBatch), predict));
    at += kBatch;
  }
  label(state);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kBatch));
}
BENCHMARK(ScoreNewCandidates)->DenseRange(0, 2)->UseRealTime();

// Proposes as a search does: ten proposals of the annealing strategy in a row, 16 configs each, with a cost
// model that is fitted anew before each. Only the proposals are timed. Each config that they score is
// counted, although the scorer remembers some from the proposals before.
void Propose(benchmark::State& state) {
  constexpr int kProposals = 10;
  constexpr std::size_t kBatch = 16;
  const Candidates candidates = candidates_for(task_for(case_of(state)));
  double scored = 0, made = 0;
  for (auto _ : state) {
    Scorer scorer(feature_table().size(), candidates.row_of, kScoreThreads);
    AnnealStrategy strategy(candidates.space);
    Rng rng(3);
    FeatureMatrix rows(feature_table().size());
    std::vector<float> row(candidates.columns);
    std::vector<double> times_us;
    Seen seen;
    const auto measure = [&](const std::vector<Point>& batch) {
      std::vector<Observed> observed;
      for (const Point& point : batch) {
        candidates.row_of(point, row);
        rows.append(row);
        times_us.push_back(time_us(rows.row(rows.rows() - 1)));
        observed.push_back({point, 100 / times_us.back()});
        seen.insert(point);
      }
      strategy.observe(observed);
    };
    measure(samples(candidates.space, 2 * kBatch));
    double seconds = 0;
    for (int i = 0; i < kProposals; ++i) {
      XgboostModel model;
      Dataset data;
      append_group(data, rows, times_us);
      model.fit(data);
      const lehr::Predict predict = [&](const FeatureMatrix& some) { return model.predict(some); };
      const Score score = [&](std::span<const Point> points) { return scorer.score(points, predict); };
      const auto start = std::chrono::steady_clock::now();
      const std::vector<Point> batch = strategy.propose(kBatch, seen, score, rng);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      measure(batch);
    }
    state.SetIterationTime(seconds);
    scored += static_cast<double>(scorer.scored());
    made += static_cast<double>(scorer.made());
  }
  label(state);
  state.SetItemsProcessed(static_cast<std::int64_t>(scored));
  state.counters["new_share"] = made / scored;
}
BENCHMARK(Propose)->DenseRange(0, 2)->UseManualTime()->Iterations(3);

}  // namespace
}  // namespace lehr
