// Tests of participants in turn, and of the vendor libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/sequence.h"
#include "host_support.h"
#include "measure/core/ratio.h"
#include "measure/host/host_compiler.h"
#include "measure/worker/baselines.h"

namespace lehr {
namespace {

using testing::error_of;
using testing::gemm_of;
using testing::gemm_problem;
using testing::kSize;
using testing::local_options;
using testing::right_source;
using testing::sleeping_source;
using testing::source;
using testing::square_problem;

/// Returns how much faster entry `i` is than the first.
double ratio_of(const std::vector<ContestEntry>& entries, std::size_t i) {
  return speedup_over(entries[i], entries[0]).value;
}

TEST(Contest, FindsTheRatioOfTwoKernelsOfKnownWork) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options());
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {sleeping_source(60), sleeping_source(30), sleeping_source(60)};
  const std::vector<ContestEntry> entries = measurer.contest(sources, {}, {}, {.wanted_s = 2});
  ASSERT_EQ(entries.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(entries[i].name, fmt::format("source {}", i));
    EXPECT_EQ(entries[i].missing, "");
    EXPECT_GE(entries[i].round_us.size(), 3U);
    EXPECT_EQ(entries[i].round_us.size(), entries[0].round_us.size());
    EXPECT_GT(entries[i].time_us, 0);
  }
  EXPECT_EQ(ratio_of(entries, 0), 1);
  EXPECT_GT(ratio_of(entries, 1), 1.6);
  EXPECT_LT(ratio_of(entries, 1), 2.6);
  EXPECT_GT(ratio_of(entries, 2), 0.7);
  EXPECT_LT(ratio_of(entries, 2), 1.4);
  // The measurer goes on as before.
  EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(std::vector<Source>{right_source()}, {})[0]));
}

TEST(Contest, KeepsTheFastestOfManyToTheEnd) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options());
  measurer.prepare(square_problem());
  std::vector<Source> sources = {sleeping_source(80)};
  for (const int milliseconds : {72, 12, 80, 16, 60, 14, 64, 10, 68, 76})
    sources.push_back(sleeping_source(milliseconds));
  const std::vector<ContestEntry> entries = measurer.contest(sources, {}, {}, {.wanted_s = 4});
  ASSERT_EQ(entries.size(), sources.size());
  for (const std::size_t fast : {0, 2, 4, 6, 8}) {
    EXPECT_TRUE(entries[fast].finished) << fast;
    EXPECT_EQ(entries[fast].round_us.size(), entries[0].round_us.size());
  }
  for (const std::size_t slow : {1, 3, 5, 7, 9, 10}) {
    EXPECT_FALSE(entries[slow].finished) << slow;
    EXPECT_TRUE(entries[slow].dropped) << slow;
    EXPECT_LT(entries[slow].round_us.size(), entries[0].round_us.size());
    EXPECT_EQ(entries[slow].missing, "");
  }
}

TEST(Contest, AFailingParticipantLeavesTheOthersInTheRace) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options());
  measurer.prepare(square_problem());
  // The second one crashes, and takes along the process that it shares with the others.
  const std::vector<Source> sources = {right_source(10), source("abort();"), right_source(10),
                                       source("c[0] = 0;")};
  const std::vector<std::string> baselines = {"no such library"};
  const std::vector<ContestEntry> entries = measurer.contest(sources, {}, baselines, {.wanted_s = 0.3});
  ASSERT_EQ(entries.size(), 5U);
  EXPECT_EQ(entries[0].missing, "");
  EXPECT_NE(entries[1].missing.find("SIGABRT"), std::string::npos) << entries[1].missing;
  EXPECT_TRUE(entries[1].round_us.empty());
  ASSERT_TRUE(entries[1].failure);
  EXPECT_EQ(entries[1].failure->kind, FailureKind::kCrash);
  EXPECT_FALSE(entries[0].failure);
  EXPECT_EQ(entries[2].missing, "");
  EXPECT_GT(ratio_of(entries, 2), 0);
  EXPECT_NE(entries[3].missing.find("does not match the reference"), std::string::npos) << entries[3].missing;
  EXPECT_NE(entries[4].missing.find("no baseline named no such library is known"), std::string::npos);
}

TEST(Contest, BeginsNothingThatDoesNotFitIntoItsTime) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options());
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {right_source(10), right_source(20)};
  measurer.measure(sources, {});
  const std::vector<std::string> baselines = {"openblas"};
  for (const double most_s : {-1.0, 0.0, 1e-3}) {
    const std::vector<ContestEntry> entries =
        measurer.contest(sources, {}, baselines, {.wanted_s = 5, .most_s = most_s, .last_s = most_s});
    ASSERT_EQ(entries.size(), 3U);
    for (const ContestEntry& entry : entries) EXPECT_FALSE(entry.finished) << entry.name;
    if (most_s <= 0) {
      EXPECT_EQ(entries[2].missing, "no time was left for it");
    }
  }
  // The measurer goes on as before.
  EXPECT_GT(ratio_of(measurer.contest(sources, {}, {}, {.wanted_s = 0.2}), 1), 0);
}

// Three rounds are worth more than the work after the contest.
TEST(Contest, FinishesItsLeastRoundsWhereTheTimeBehindItSuffices) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options());
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {right_source(10), right_source(20)};
  measurer.measure(sources, {});
  // The time is enough to load the two: they are compiled already, since nothing passes between them and the
  // call.
  const std::vector<ContestEntry> entries =
      measurer.contest(sources, {}, {}, {.wanted_s = 0, .most_s = 20, .last_s = kNoLimitS});
  for (const ContestEntry& entry : entries) {
    EXPECT_TRUE(entry.finished) << entry.name;
    EXPECT_GE(entry.round_us.size(), 3U);
    EXPECT_GT(entry.turns_s, 0);
  }
}

TEST(Contest, NamesWhoWasNotLoadedInTime) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options());
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {right_source(10), right_source(20)};
  measurer.measure(sources, {});
  for (const ContestEntry& entry : measurer.contest(sources, {}, {}, {.wanted_s = 1, .most_s = 0})) {
    EXPECT_FALSE(entry.finished);
    EXPECT_FALSE(entry.failure) << "it has done nothing wrong";
    EXPECT_EQ(entry.missing, "no time was left for it");
  }
}

TEST(Contest, KeepsItsTimeWithAllThatBelongsToIt) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options());
  measurer.prepare(square_problem(), gemm_problem(gemm_of(kSize, kSize, kSize), 2));
  const std::vector<Source> sources = {sleeping_source(50), sleeping_source(50)};
  measurer.measure(sources, {});
  constexpr double kSeconds = 3;
  const std::vector<ContestEntry> entries =
      measurer.contest(sources, {}, {}, {.wanted_s = 60, .most_s = kSeconds, .last_s = kSeconds});
  // Each round has a turn of both, of 50 ms at least.
  for (const ContestEntry& entry : entries)
    EXPECT_LE(static_cast<double>(entry.round_us.size()) * 2 * 0.05, kSeconds);
}

// Returns c = a b, then c = 2 c: two steps on the same tensors.
Source doubled_source(const std::string& doubling) {
  Source second = source(doubling, 2);
  second.entry = "second";
  second.text.insert(0, "#define kernel second\n");
  second.text += "#undef kernel\n";
  return in_sequence(right_source(10), second);
}

TEST(Contest, AChallengerRunsItsStepsInOrderAndNeverDropsOut) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options(2));
  Problem problem = square_problem();
  Argument& output = output_argument(problem);
  std::vector<float> doubled = floats_of(output.expected_as, output.expected);
  for (float& value : doubled) value *= 2;
  output.expected = elements_of(output.expected_as, doubled);
  measurer.prepare(problem);
  const char* doubling = "for (long i = task * N * N / 2; i < (task + 1) * N * N / 2; ++i) c[i] *= 2;";
  const std::vector<Source> sources = {doubled_source(doubling)};
  const std::vector<Challenger> challengers = {{"slow", "how", doubled_source(doubling)},
                                               {"wrong", "", doubled_source("if (task == 0) c[0] *= 2;")}};
  const std::vector<ContestEntry> entries = measurer.contest(sources, challengers, {}, {.wanted_s = 0.3});
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].missing, "");
  EXPECT_EQ(entries[1].name, "slow");
  EXPECT_EQ(entries[1].note, "how");
  EXPECT_EQ(entries[1].missing, "");
  EXPECT_TRUE(entries[1].finished);
  EXPECT_GT(ratio_of(entries, 1), 0);
  EXPECT_THAT(entries[2].missing, ::testing::HasSubstr("does not match the reference"));
}

TEST(Contest, TimesInstalledBaselinesAndSaysWhyOthersAreMissing) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options(2));
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {right_source()};
  const std::vector<std::string> baselines = {"openblas", "onednn"};
  const std::vector<ContestEntry> entries = measurer.contest(sources, {}, baselines, {.wanted_s = 0.3});
  ASSERT_EQ(entries.size(), 3U);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(entries[i].name, baselines[i - 1]);
    if (entries[i].missing.empty()) {
      EXPECT_GT(ratio_of(entries, i), 0);
      EXPECT_GE(entries[i].round_us.size(), 3U);
    } else {
      EXPECT_NE(entries[i].missing.find("is not installed (Debian: apt-get install"), std::string::npos)
          << entries[i].missing;
    }
  }
}

TEST(Contest, ABaselineThatDoesNotComputeTheProblemIsNotTimed) {
  HostCompiler compiler;
  LocalMeasurer measurer(compiler, local_options());
  Problem problem = square_problem();
  problem.text = to_text({gemm_of(kSize, kSize, kSize), parse_epilogue("relu")});
  measurer.prepare(problem);
  const std::vector<std::string> baselines = {"openblas"};
  const std::vector<ContestEntry> entries =
      measurer.contest(std::vector<Source>{right_source()}, {}, baselines, {.wanted_s = 0.1});
  EXPECT_EQ(entries[1].missing, "openblas has no call that computes this problem");
  EXPECT_TRUE(entries[1].round_us.empty());
}

const VendorLibrary& library_of(std::string_view baseline) {
  return *find_baseline(baseline).library;
}

TEST(Baselines, OpenBlasIsTriedWithTheCoreTypesThatTheCpuCanRun) {
  EXPECT_EQ(library_of("openblas").variants("avx512", 2).size(), 3U);
  EXPECT_EQ(library_of("openblas").variants("sse2", 2).size(), 1U);
  EXPECT_EQ(library_of("onednn").variants("avx512", 2).size(), 1U);
  for (const BaselineVariant& variant : library_of("openblas").variants("avx2", 3)) {
    EXPECT_THAT(variant.environment,
                ::testing::IsSupersetOf({"OPENBLAS_NUM_THREADS=3", "OMP_NUM_THREADS=3"}));
    EXPECT_EQ(variant.note.find("SkylakeX"), std::string::npos);
  }
}

TEST(Baselines, BelongToATargetByTheirTable) {
  EXPECT_THAT(baseline_names(Target::kCpu), ::testing::IsSupersetOf({"openblas", "onednn"}));
  EXPECT_THAT(baseline_names(Target::kCuda),
              ::testing::ElementsAre("cublaslt", "cublaslt-best", "cudnn", "cudnn-best", "cudnn-unfused"));
  EXPECT_EQ(default_baselines(Target::kCpu), (std::vector<std::string>{"openblas", "onednn", "onnxruntime"}));
  EXPECT_EQ(default_baselines(Target::kCuda), baseline_names(Target::kCuda));
  std::vector<std::string> all;
  for (const VendorLibrary* library : vendor_libraries()) {
    EXPECT_FALSE(library->variants("", 1).empty()) << library->name;
    for (const Baseline& baseline : library->baselines) {
      EXPECT_EQ(find_baseline(baseline.name).baseline, &baseline);
      all.emplace_back(baseline.name);
    }
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

/// Compares each f32 GEMM library of the CPU that is here with the reference, with all layouts of small odd
/// shapes, most of them scaled.
TEST(Baselines, AgreeWithTheReferenceInAllLayouts) {
  for (const std::string& name : with_calls_for("gemm ", baseline_names(Target::kCpu))) {
    for (int layout = 0; layout < 8; ++layout) {
      for (const auto& [m, n, k, batch] :
           {std::tuple{7, 5, 3, 1}, {1, 33, 17, 1}, {13, 1, 9, 3}, {64, 48, 31, 2}}) {
        SCOPED_TRACE(fmt::format("{} m={} n={} k={} batch={} layout={}", name, m, n, k, batch, layout));
        const std::unique_ptr<Runner> runner = find_baseline(name).baseline->make_runner();
        try {
          Gemm gemm = gemm_of(m, n, k, batch, layout);
          if (batch < 3) gemm.alpha = -0.375F;
          runner->prepare(gemm_problem(gemm, 7), RunSettings{});
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kEnvironment) << error.what();
          fmt::print("left out: {}\n", error.what());
          layout = 8;
          break;
        }
        const auto checked = runner->check(0);
        ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
      }
    }
  }
}

// A library that was written before a field came would ignore it, and time something else.
TEST(Baselines, RefuseLaterFieldsThatTheyDoNotList) {
  const auto refused = [](Baseline baseline, const std::string& more,
                          std::span<const std::string_view> reads) {
    baseline.reads = reads;
    return error_of([&] {
      require(baseline, asked_problem(parse_workload("gemm m=4 n=4 k=4 " + more), 1), RunSettings{});
    });
  };
  std::vector<std::string> readers;
  for (const VendorLibrary* library : vendor_libraries()) {
    for (const Baseline& baseline : library->baselines) {
      const std::string sentence = std::string(baseline.name) + " cannot compute this: it does not know ";
      EXPECT_EQ(refused(baseline, "alpha=2", kOldFields), sentence + "alpha=2");
      EXPECT_EQ(refused(baseline, "math=tf32", {}), sentence + "math=tf32");
      const std::string answer = refused(baseline, "alpha=2", baseline.reads);
      if (answer == "nothing was thrown")
        readers.emplace_back(baseline.name);
      else
        EXPECT_EQ(answer, sentence + "alpha=2");
    }
  }
  EXPECT_THAT(readers, ::testing::ElementsAre("openblas", "onednn", "blis", "cublaslt", "cublaslt-best"));
}

TEST(Baselines, FindColdCachesWhereCandidatesDo) {
  // 4 MB of weights, which no layer has just written: read from a cache, or from memory.
  const Problem problem = problem_for(parse_workload("gemm m=1 n=1024 k=1024 b=f32:row:constant"), 7);
  for (const char* name : {"openblas", "onednn", "blis"}) {
    const auto fastest_us = [&](bool cold) {
      const std::unique_ptr<Runner> runner = find_baseline(name).baseline->make_runner();
      runner->prepare(problem, RunSettings{.threads = 1, .cold = cold});
      runner->load(0, {});
      EXPECT_TRUE(std::holds_alternative<Checked>(runner->check(0)));
      const auto samples = runner->time(0, {1000, 10, 20000, 400000, 3, 0});
      return std::ranges::min(std::get<Samples>(samples).us);
    };
    try {
      // Other load on the machine may hit either, so the fastest of several attempts are compared.
      double warm = fastest_us(false), cold = fastest_us(true);
      for (int attempt = 0; attempt < 12 && cold < 1.3 * warm; ++attempt) {
        warm = std::min(warm, fastest_us(false));
        cold = std::min(cold, fastest_us(true));
      }
      EXPECT_GT(cold / warm, 1.3) << name;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kEnvironment) << error.what();  // it is not installed
    }
  }
}

TEST(Baselines, AreNamedOnlyWhereTheirLibraryHasCallsForTheOperator) {
  using Names = std::vector<std::string>;
  const Names all = {"openblas", "onednn",     "blis",          "onnxruntime", "cublaslt", "cublaslt-best",
                     "cudnn",    "cudnn-best", "cudnn-unfused", "bundle",      "absent"};
  EXPECT_EQ(with_calls_for("gemm m=8", all),
            (Names{"openblas", "onednn", "blis", "cublaslt", "cublaslt-best", "bundle", "absent"}));
  EXPECT_EQ(with_calls_for("conv2d n=1", all),
            (Names{"onednn", "cudnn", "cudnn-best", "cudnn-unfused", "bundle", "absent"}));
  EXPECT_EQ(with_calls_for("rowwise m=8", all), (Names{"onednn", "onnxruntime", "bundle", "absent"}));
}

TEST(Baselines, RefuseWhatTheyHaveNoCallFor) {
  const auto refused = [](std::string_view baseline, const std::string& workload, bool cold = false) {
    return error_of([&] {
      require(*find_baseline(baseline).baseline, asked_problem(parse_workload(workload), 1),
              RunSettings{.cold = cold});
    });
  };
  const std::string gemm = "gemm m=4 n=4 k=4", conv = "conv2d c=4 h=4 w=4 k=4 r=3 s=3";
  EXPECT_EQ(refused("openblas", gemm), "nothing was thrown");
  EXPECT_EQ(refused("openblas", gemm + " a=bf16"), "openblas has no call for bf16 operands");
  EXPECT_EQ(refused("openblas", gemm, true), "nothing was thrown");
  EXPECT_EQ(refused("openblas", conv), "openblas has no call that computes this problem");
  EXPECT_EQ(refused("onednn", conv), "nothing was thrown");
  EXPECT_EQ(refused("onednn", conv + " epilogue=relu"), "onednn is not asked for what follows a convolution");
  EXPECT_EQ(refused("onednn", gemm + " epilogue=relu"), "onednn has no call that computes this problem");
  // Its kernels take any number of rows, and a library is called for the rows of a call.
  EXPECT_EQ(refused("onednn", "rowwise m=8 n=4 in=x:f32 out=y:f32 expr=y=exp(x)"), "nothing was thrown");
  EXPECT_EQ(refused("cublaslt", conv), "cublaslt has no call that computes this problem");
  EXPECT_EQ(refused("cublaslt-best", gemm), "nothing was thrown");
  EXPECT_EQ(refused("cudnn", gemm), "cudnn is asked for convolutions only");
  EXPECT_EQ(refused("cudnn-unfused", conv), "cudnn-unfused has nothing to leave unfused here");
  // prepare() refuses it, too.
  const std::unique_ptr<Runner> runner = find_baseline("openblas").baseline->make_runner();
  Problem problem = square_problem();
  problem.text = "gemm m=48 n=48 k=48 a=bf16";
  EXPECT_EQ(error_of([&] { runner->prepare(problem, RunSettings{}); }),
            "openblas has no call for bf16 operands");
}

}  // namespace
}  // namespace lehr
