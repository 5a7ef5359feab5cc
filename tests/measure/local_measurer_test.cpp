// Tests of real kernels through compiler and worker: right ones are timed, and no wrong one takes the
// measurer down.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/version.h"
#include "measure/core/stats.h"
#include "measure/host/host_compiler.h"
#include "measure/system/memory_limit.h"
#include "measure/worker/messages.h"
#include "measure/worker/serve.h"
#include "measuring.h"

namespace lehr {
namespace {

using testing::kSize;
using testing::local_options;
using testing::right_source;
using testing::sleeping_source;
using testing::source;
using testing::square_problem;

using Measuring = testing::Measuring;

TEST_F(Measuring, TimesARightKernel) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  std::vector<std::size_t> reported;
  const std::vector<Source> sources = {right_source(), right_source(2)};
  const std::vector<Outcome> outcomes = measurer.measure(sources, [&](std::size_t i, const Outcome& outcome) {
    EXPECT_TRUE(std::holds_alternative<Timing>(outcome));
    reported.push_back(i);
  });
  EXPECT_EQ(reported, (std::vector<std::size_t>{0, 1}));
  const Timing& first = std::get<Timing>(outcomes[0]);
  EXPECT_GT(first.time_us, 0);
  EXPECT_GE(first.samples_us.size(), 10U);
  EXPECT_EQ(first.time_us, estimate(first.samples_us));
  EXPECT_EQ(first.reference_us, 0);
  EXPECT_GT(first.run_s, 0);
  EXPECT_GT(first.resources.compile_s, 0);
  EXPECT_LE(first.max_error, square_problem().arguments[2].absolute);
  // The second is timed beside the first, the reference kernel.
  const Timing& second = std::get<Timing>(outcomes[1]);
  EXPECT_GT(second.reference_us, 0);
  const double drift =
      std::clamp(first.time_us / second.reference_us, 1 / kLargestCorrection, kLargestCorrection);
  EXPECT_NEAR(second.time_us, estimate(second.samples_us) * drift, 1e-6 * second.time_us);
  EXPECT_GT(measurer.spent().compile_s, 0);
  EXPECT_GT(measurer.spent().run_s, 0);
  EXPECT_EQ(measurer.spent().kernels, 2);
}

TEST_F(Measuring, RunsEveryTaskOnceWhateverTheNumberOfThreads) {
  LocalMeasurer measurer = make(local_options(2));
  measurer.prepare(square_problem());
  // Each work item scales its rows by how often it ran: a work item that runs twice or never is a wrong
  // result.
  const auto tasks = [](long count) {
    return source(fmt::format("rows(a, b, c, task * (N / {0}), (task + 1) * (N / {0}));", count), count);
  };
  const std::vector<Source> sources = {tasks(1), tasks(2), tasks(3), tasks(kSize)};
  for (const Outcome& outcome : measurer.measure(sources, {})) {
    EXPECT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Failure>(outcome).text;
  }
}

TEST_F(Measuring, GivesEachCallScratchMemoryOfItsOwn) {
  LocalMeasurer measurer = make(local_options(2));
  measurer.prepare(square_problem());
  const Source through_scratch = source(R"(
    float* s = (float*)scratch;
    for (long i = 0; i < N * N; ++i) s[i] = task + i;
    rows(a, b, s, task * 12, (task + 1) * 12);
    for (long i = task * 12 * N; i < (task + 1) * 12 * N; ++i) c[i] = s[i];)",
                                        4, kSize * kSize * 4);
  const std::vector<Outcome> outcomes = measurer.measure(std::vector<Source>{through_scratch}, {});
  EXPECT_TRUE(std::holds_alternative<Timing>(outcomes[0])) << std::get<Failure>(outcomes[0]).text;
}

TEST_F(Measuring, SpendsLittleOnHopelessCandidates) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const std::vector<Outcome> outcomes =
      measurer.measure(std::vector<Source>{right_source(), sleeping_source(300)}, {});
  ASSERT_TRUE(std::holds_alternative<Timing>(outcomes[1]));
  EXPECT_EQ(std::get<Timing>(outcomes[1]).samples_us.size(), 3U);
}

TEST_F(Measuring, BehindItsTimeASourceGetsTheFewestSamplesOrIsNotBegun) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {right_source()};
  const Outcome hasty = measurer.measure(sources, {}, {.wanted_s = 0})[0];
  ASSERT_TRUE(std::holds_alternative<Timing>(hasty)) << std::get<Failure>(hasty).text;
  EXPECT_EQ(std::get<Timing>(hasty).samples_us.size(), 3U);
  const Outcome none = measurer.measure(sources, {}, {.wanted_s = 0, .most_s = 0})[0];
  ASSERT_TRUE(std::holds_alternative<Failure>(none));
  EXPECT_EQ(std::get<Failure>(none).kind, FailureKind::kInterrupted);
}

TEST_F(Measuring, EndsASourceThatStillRunsWhenTheTimeIsUp) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {source("for (volatile long i = 0; ; i = i + 1) {}")};
  const Outcome outcome = measurer.measure(sources, {}, {.wanted_s = 0, .most_s = 2})[0];
  ASSERT_TRUE(std::holds_alternative<Failure>(outcome));
  EXPECT_EQ(std::get<Failure>(outcome).kind, FailureKind::kInterrupted);  // not its own kTimeout, of 10 s
  EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(std::vector<Source>{right_source()}, {})[0]));
}

TEST_F(Measuring, CanSweepTheCachesBetweenSamples) {
  LocalOptions options = local_options();
  options.settings.cold = true;
  options.use_reference = false;
  options.sampling.tight_total_us = 0;
  LocalMeasurer measurer = make(options);
  measurer.prepare(square_problem());
  const std::vector<Outcome> outcomes = measurer.measure(std::vector<Source>{right_source()}, {});
  ASSERT_TRUE(std::holds_alternative<Timing>(outcomes[0])) << std::get<Failure>(outcomes[0]).text;
  // A sweep takes far longer than a call. Sweeps count towards the limit.
  const Timing& timing = std::get<Timing>(outcomes[0]);
  EXPECT_LT(static_cast<double>(timing.samples_us.size()) * median(timing.samples_us),
            0.2 * options.sampling.max_total_us);
  EXPECT_GE(timing.samples_us.size(), 3U);
}

TEST_F(Measuring, ChangesProblemsWithoutANewWorker) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(std::vector<Source>{right_source()}, {})[0]));
  Problem other = testing::gemm_problem(testing::gemm_of(kSize, kSize, kSize), 99);
  measurer.prepare(other);
  EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(std::vector<Source>{right_source()}, {})[0]));
  Argument& output = output_argument(other);
  std::vector<float> expected = floats_of(output.expected_as, output.expected);
  expected[17] += 1;
  output.expected = elements_of(output.expected_as, expected);
  measurer.prepare(other);
  const Outcome outcome = measurer.measure(std::vector<Source>{right_source()}, {})[0];
  ASSERT_TRUE(std::holds_alternative<Failure>(outcome)) << "compared with the former problem's values";
  EXPECT_EQ(std::get<Failure>(outcome).text.rfind("element 17 is ", 0), 0U)
      << std::get<Failure>(outcome).text;
}

TEST_F(Measuring, SurvivesEveryKindOfBadCandidate) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const std::string right = "rows(a, b, c, 0, N);";
  struct Case {
    std::string body;
    FailureKind kind;
    std::string words;
  };
  const std::vector<Case> cases = {
      {right + "c[5] += 1;", FailureKind::kWrongResult, "element 5 is "},
      {right + "c[N * N] = 0;", FailureKind::kWrongResult,
       "wrote outside its output (argument 2), 0 bytes after its end"},
      {right + "c[-2] = 0;", FailureKind::kWrongResult,
       "wrote outside its output (argument 2), 5 bytes before its start"},
      {right + "((float*)a)[7] += 1;", FailureKind::kWrongResult, "modified its input (argument 0)"},
      {right + "((float*)b)[N * N + 3] = 1;", FailureKind::kWrongResult,
       "wrote outside its input (argument 1)"},
      {right + "((char*)scratch)[64] = 1;", FailureKind::kWrongResult, "wrote outside its scratch memory"},
      {"rows(a, b, c, 0, N - 1);", FailureKind::kWrongResult, "left 48 of 2304 output elements unwritten"},
      {"for (long i = 0; i < N * N; ++i) c[i] += 1;", FailureKind::kWrongResult, "unwritten"},
      {"*(volatile int*)16 = 1;", FailureKind::kCrash, "SIGSEGV (invalid memory access)"},
      {"exit(0);", FailureKind::kCrash, "exited with status 0"},
      {"abort();", FailureKind::kCrash, "SIGABRT"},
      {"__builtin_trap();", FailureKind::kCrash, "SIGILL"},
      {"volatile char big[1l << 34]; for (long i = 0; i < (1l << 34); i += 4096) big[i] = 1;",
       FailureKind::kCrash, "SIGSEGV"},
      {"for (;;) { volatile char* p = (char*)malloc(1l << 30); for (long i = 0; i < (1l << 30); i += 1l << "
       "24) p[i] = "
       "1; }",
       FailureKind::kCrash, "SIGSEGV"},
      {"no_such_function();", FailureKind::kCompile, "error: "},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.body);
    // Only a limit ends the one that allocates for ever; the sanitizers allow none
    // (measure/system/memory_limit.h).
    if (!kMemoryIsLimited && one.body.find("malloc") != std::string::npos) continue;
    const Source bad = source(one.body, 1, one.body.find("scratch") != std::string::npos ? 64 : 0);
    expect_failure_then_recovery(measurer, bad, one.kind, one.words);
  }
}

TEST_F(Measuring, ComparesTheBitsOfTwoRuns) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const Repetition same = std::get<Repetition>(measurer.repeat(right_source()));
  EXPECT_EQ(same.elements, kSize * kSize);
  EXPECT_EQ(same.different, 0);
  // Right both times, but the second run rounds two elements otherwise.
  const Source fickle = source(
      "static int calls; rows(a, b, c, 0, N);"
      "if (calls++ % 2) { c[5] *= 1.0000002f; c[7] *= 1.0000002f; }");
  const Repetition other = std::get<Repetition>(measurer.repeat(fickle));
  EXPECT_EQ(other.elements, kSize * kSize);
  EXPECT_EQ(other.different, 2);
  EXPECT_EQ(other.first, 5);
  const Source wrong_once = source("static int calls; rows(a, b, c, 0, N); if (calls++ == 1) c[3] += 1;");
  EXPECT_EQ(std::get<Failure>(measurer.repeat(wrong_once)).kind, FailureKind::kWrongResult);
  EXPECT_EQ(std::get<Failure>(measurer.repeat(source("abort();"))).kind, FailureKind::kCrash);
  EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(std::vector<Source>{right_source()}, {})[0]));
}

TEST_F(Measuring, ReportsWhatCannotBeLoaded) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  Source renamed = right_source();
  renamed.entry = "absent";
  expect_failure_then_recovery(measurer, renamed, FailureKind::kLaunch, "has no function named absent");
  Source unresolved = source("rows(a, b, c, 0, N); extern void elsewhere(); elsewhere();");
  expect_failure_then_recovery(measurer, unresolved, FailureKind::kLaunch, "elsewhere");
  Source greedy = right_source();
  greedy.scratch_bytes = std::int64_t{1} << 50;
  expect_failure_then_recovery(measurer, greedy, FailureKind::kOutOfMemory, "scratch");
}

/// Returns a kernel that copies B into memory of its own first and reads it from there; `also` stands in the
/// prepacking function.
Source prepacked_source(std::string_view also = "") {
  Source result = source("rows(a, (const float*)params[3], c, 0, N);");
  result.text += fmt::format(
      "extern \"C\" void kernel_prepack(void* const* params, void*, long task) {{\n"
      "  for (long i = 0; i < N; ++i)\n"
      "    ((float*)params[3])[task * N + i] = ((const float*)params[1])[task * N + i];\n  {}\n}}\n",
      also);
  result.params.push_back({"u", DType::kF32, kSize * kSize, ir::Direction::kPrepacked});
  result.launch.prepack_work_items = kSize;
  return result;
}

TEST_F(Measuring, PrepacksBeforeTheCheckAndTheTiming) {
  for (const int threads : {1, 2}) {
    LocalMeasurer measurer = make(local_options(threads));
    measurer.prepare(square_problem());
    const Outcome outcome = measurer.measure(std::vector<Source>{prepacked_source()}, {})[0];
    EXPECT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Failure>(outcome).text;
    const std::vector<Source> both = {right_source(), prepacked_source()};
    for (const ContestEntry& entry : measurer.contest(both, {}, {}, {.wanted_s = 0.1}))
      EXPECT_FALSE(entry.round_us.empty());
  }
}

TEST_F(Measuring, ReportsFailuresOfPrepacking) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  Source absent = right_source();
  absent.launch.prepack_work_items = 1;
  expect_failure_then_recovery(measurer, absent, FailureKind::kLaunch,
                               "has no function named kernel_prepack");
  expect_failure_then_recovery(measurer, prepacked_source("((float*)params[3])[N * N] = 1;"),
                               FailureKind::kWrongResult, "wrote outside a parameter behind the tensors");
  expect_failure_then_recovery(measurer, prepacked_source("abort();"), FailureKind::kCrash, "");
  Source greedy = prepacked_source();
  greedy.params.back().elements = std::int64_t{1} << 50;
  expect_failure_then_recovery(measurer, greedy, FailureKind::kOutOfMemory, "parameters behind the tensors");
}

/// Returns a kernel of two steps: the first one writes the product to the workspace, and the second one
/// copies it.
Source workspace_source(std::string_view also = "") {
  Source result =
      source(fmt::format("float* const w = (float*)params[3]; if (task == 0) rows(a, b, w, 0, N); "
                         "if (task == 1) for (long i = 0; i < N * N; ++i) c[i] = w[i]; {}",
                         also));
  result.launch.further_steps = 1;
  result.params.push_back({"w", DType::kF32, kSize * kSize, ir::Direction::kWorkspace});
  return result;
}

TEST_F(Measuring, GivesStepsAWorkspaceThatIsGuarded) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const Outcome outcome = measurer.measure(std::vector<Source>{workspace_source()}, {})[0];
  EXPECT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Failure>(outcome).text;
  expect_failure_then_recovery(measurer, workspace_source("w[N * N] = 1;"), FailureKind::kWrongResult,
                               "wrote outside a parameter behind the tensors");
  // It holds anything before a call: poison, in a checked one.
  Source reading = source("if (((float*)params[3])[0] == 0) rows(a, b, c, 0, N);");
  reading.params = workspace_source().params;
  expect_failure_then_recovery(measurer, reading, FailureKind::kWrongResult, "unwritten");
}

TEST_F(Measuring, HasPatienceWithWhatTakesLongOnThisDevice) {
  LocalOptions options = local_options();
  options.run_timeout_s = 0.4;
  options.limits.peak_gflops_f32 = 2e-2;  // the product takes 11 ms at the least
  LocalMeasurer measurer = make(options);
  measurer.prepare(square_problem());
  // A call takes 60 ms, which nobody knows before the first.
  const Source slow = sleeping_source(60);
  const std::vector<Outcome> outcomes = measurer.measure(std::vector<Source>{slow, slow}, {});
  for (const Outcome& outcome : outcomes)
    EXPECT_TRUE(std::holds_alternative<Timing>(outcome)) << std::get<Failure>(outcome).text;
}

TEST_F(Measuring, KillsACandidateThatNeverEnds) {
  LocalOptions options = local_options(2);
  options.run_timeout_s = 3;
  LocalMeasurer measurer = make(options);
  measurer.prepare(square_problem());
  expect_failure_then_recovery(measurer, source("for (volatile int i = 0;;) i = i + 1;", 2),
                               FailureKind::kTimeout, "ran longer than 3 s and was killed");
}

TEST_F(Measuring, KeepsTheReferenceKernelAcrossACrash) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {right_source(), source("abort();"), right_source()};
  const std::vector<Outcome> outcomes = measurer.measure(sources, {});
  ASSERT_TRUE(std::holds_alternative<Timing>(outcomes[2])) << std::get<Failure>(outcomes[2]).text;
  EXPECT_GT(std::get<Timing>(outcomes[2]).reference_us, 0);
}

TEST_F(Measuring, DropsAReferenceKernelThatTurnsOutToCrash) {
  LocalMeasurer measurer = make();
  measurer.prepare(square_problem());
  // Right at first; crashes from the moment at which the file appears.
  const TempDir directory;
  const std::string flag = directory.path() + "/crash";
  Source reference = source("if (access(\"" + flag + "\", 0) == 0) abort(); rows(a, b, c, 0, N);");
  reference.text = "extern \"C\" int access(const char*, int);" + reference.text;
  ASSERT_TRUE(std::holds_alternative<Timing>(measurer.measure(std::vector<Source>{reference}, {})[0]));
  std::ofstream(flag) << "now";
  const std::vector<Source> innocent(6, right_source());
  const std::vector<Outcome> outcomes = measurer.measure(innocent, {});
  EXPECT_TRUE(std::holds_alternative<Failure>(outcomes.front()));
  ASSERT_TRUE(std::holds_alternative<Timing>(outcomes.back())) << std::get<Failure>(outcomes.back()).text;
}

/// Returns a worker that greets with `hello` and then never answers.
std::string worker_that_says(const std::string& hello, const TempDir& directory) {
  CHECK(hello.size() < 256);
  std::ofstream(directory.path() + "/hello")
      << static_cast<char>(hello.size()) << std::string(3 + 8, '\0') << hello;  // length and tag
  const std::string script = directory.path() + "/worker";
  std::ofstream(script) << "#!/bin/sh\ncat " << directory.path() << "/hello >&3\nexec sleep 60\n";
  CHECK(chmod(script.c_str(), 0700) == 0);
  return script;
}

// There are three deadlines. The candidate's own is its run. If no worker gets ready in time, only the
// machine is to blame.
TEST_F(Measuring, WaitingForAWorkerHasADeadlineOfItsOwn) {
  const TempDir directory;
  LocalOptions options = local_options();
  options.worker.program = worker_that_says(to_text(Reply(Hello{kProtocolVersion, kVersion})), directory);
  options.worker.prepare_timeout_s = 0.2;
  LocalMeasurer measurer = make(options);
  try {
    measurer.prepare(square_problem());
    FAIL() << "a worker that never answers was prepared";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_NE(std::string(error.what()).find("while it prepared the problem"), std::string::npos)
        << error.what();
  }
}

TEST_F(Measuring, AWorkerOfAnotherVersionIsNamed) {
  const auto refusal = [this](const std::string& hello) {
    const TempDir directory;
    LocalOptions options = local_options();
    options.worker.program = worker_that_says(hello, directory);
    LocalMeasurer measurer = make(options);
    const std::string text = testing::error_of([&] { measurer.prepare(square_problem()); });
    return text.substr(text.find(" is of"));
  };
  const std::string wanted = fmt::format(
      ", and this library is of lehr {} (protocol {}): name one of that version", kVersion, kProtocolVersion);
  EXPECT_EQ(refusal(to_text(Reply(Hello{kProtocolVersion, "9.9.9"}))),
            fmt::format(" is of lehr 9.9.9 (protocol {})", kProtocolVersion) + wanted);
  EXPECT_EQ(refusal(R"({"kind":"hello","version":7})"),
            " is of lehr an unknown version (protocol 7)" + wanted);
}

TEST_F(Measuring, AWorkerThatDoesNotStartIsOneClearSentence) {
  LocalOptions options = local_options();
  options.worker.program = "/bin/true";
  LocalMeasurer measurer = make(options);
  try {
    measurer.prepare(square_problem());
    FAIL() << "/bin/true passed for a worker";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_NE(std::string(error.what()).find("/bin/true worker did not start"), std::string::npos)
        << error.what();
  }
  options.worker.program = "/nonexistent/lehr";
  LocalMeasurer another = make(options);
  EXPECT_THROW(another.prepare(square_problem()), Error);
}

}  // namespace
}  // namespace lehr
