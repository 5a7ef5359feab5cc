// Tests compile workers with a compiler that crashes, hangs and devours memory (fake_nvrtc.cpp), through the
// same path as the real one.
#include "measure/worker/compile_workers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <latch>
#include <set>
#include <thread>

#include "base/error.h"
#include "measure/system/memory_limit.h"
#include "measure/system/temp_dir.h"
#include "measure/worker/compile_ahead.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;

CompileWorkersOptions options(int workers = 2) {
  CompileWorkersOptions options;
  options.worker.program = LEHR_MEASURE_WORKER;
  options.target = Target::kCuda;
  options.compiler.arch = "sm_90a";
  options.worker.environment = {"LD_LIBRARY_PATH=" LEHR_FAKE_NVRTC};
  options.workers = workers;
  return options;
}

/// Returns a source that the fake compiles, or misbehaves on as `word` says.
Source source(const std::string& entry, const std::string& word = "nothing") {
  Source result;
  result.target = Target::kCuda;
  result.entry = entry;
  result.text = "// fake:" + word + ";\n";
  result.launch.shared_bytes = 1024;
  return result;
}

struct Compilation {
  std::string entry;
  int pid = 0;
};
/// Reads what the fake wrote into the cubin.
Compilation read(const Compiled& compiled) {
  Compilation result;
  if (const auto* failure = std::get_if<Failure>(&compiled)) {
    ADD_FAILURE() << name_of(failure->kind) << ": " << failure->text;
    return result;
  }
  std::ifstream(std::get<Binary>(compiled).path) >> result.entry >> result.pid;
  return result;
}

void expect_failure(const Compiled& compiled, FailureKind kind, const std::string& words) {
  const auto* failure = std::get_if<Failure>(&compiled);
  ASSERT_TRUE(failure) << "compiled, expected: " << words;
  EXPECT_EQ(failure->kind, kind) << name_of(failure->kind) << ": " << failure->text;
  EXPECT_THAT(failure->text, HasSubstr(words));
}

// Workers die with the thread that started them, so the thread that compiles ahead has to outlive its
// batches.
TEST(CompileWorkers, KeepsItsWorkersWhileItCompilesAhead) {
  CompileWorkers workers(options());
  CompileAhead ahead(workers, 3);  // one thread more than there are workers
  std::set<int> pids;
  for (int round = 0; round < 3; ++round) {
    for (const char* entry : {"a", "b", "c"})
      ahead.begin(source(entry, entry[0] == 'c' ? "nothing" : "slow"));
    for (const char* entry : {"a", "b", "c"}) {
      const Compilation compilation = read(ahead.take());
      EXPECT_EQ(compilation.entry, entry);
      pids.insert(compilation.pid);
    }
  }
  EXPECT_EQ(pids.size(), 2U);
  EXPECT_GT(ahead.busy_s(), 0);
  // A binary that nobody takes is removed.
  ahead.begin(source("d"));
  ahead.drop();
  ahead.begin(source("e"));
  EXPECT_EQ(read(ahead.take()).entry, "e");
}

TEST(CompileWorkers, SeveralThreadsLoseNothingToOneAnother) {
  CompileWorkers workers(options());
  std::vector<std::vector<Compiled>> results(4);
  std::latch all_done(4);  // workers die with the thread that started them
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < results.size(); ++thread)
      threads.emplace_back([&, thread] {
        const std::string name(1, static_cast<char>('a' + thread));
        for (int round = 0; round < 5; ++round) {
          const std::vector<Source> sources = {source(name), source("bad", round == 2 ? "crash" : "refuse")};
          for (Compiled& one : workers.compile(sources)) results[thread].push_back(std::move(one));
        }
        all_done.arrive_and_wait();
      });
  }
  for (std::size_t thread = 0; thread < results.size(); ++thread) {
    ASSERT_EQ(results[thread].size(), 10U);
    for (std::size_t i = 0; i < 10; i += 2) {
      EXPECT_EQ(read(results[thread][i]).entry, std::string(1, static_cast<char>('a' + thread)));
      EXPECT_TRUE(std::holds_alternative<Failure>(results[thread][i + 1]));
    }
  }
}

TEST(CompileWorkers, KeepsTheOrderAndItsWorkers) {
  CompileWorkers workers(options());
  EXPECT_EQ(workers.workers(), 2);
  EXPECT_EQ(workers.identity(), "NVRTC 13.0 --gpu-architecture=sm_90a --std=c++17");
  std::set<int> pids;
  for (int round = 0; round < 3; ++round) {
    std::vector<Source> sources;
    for (int i = 0; i < 9; ++i)
      sources.push_back(source("kernel" + std::to_string(i), i % 2 ? "slow" : "nothing"));
    const std::vector<Compiled> results = workers.compile(sources);
    ASSERT_EQ(results.size(), sources.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Compilation compilation = read(results[i]);
      EXPECT_EQ(compilation.entry, sources[i].entry);
      pids.insert(compilation.pid);
      EXPECT_EQ(std::get<Binary>(results[i]).resources.registers, 40);
      EXPECT_EQ(std::get<Binary>(results[i]).resources.shared_bytes, 1024);
    }
  }
  EXPECT_EQ(pids.size(), 2u);
  EXPECT_TRUE(workers.compile({}).empty());
}

TEST(CompileWorkers, LosesOneCandidateToACrash) {
  struct Case {
    std::string word, words;
  };
  CompileWorkers workers(options());
  for (const Case& one :
       {Case{"crash", "the compiler crashed: SIGSEGV"}, Case{"abort", "the compiler crashed: SIGABRT"},
        Case{"exit", "the compiler crashed: exited with status 3"}}) {
    SCOPED_TRACE(one.word);
    const std::vector<Compiled> results = workers.compile(
        std::vector<Source>{source("a"), source("b", one.word), source("c"), source("d"), source("e")});
    expect_failure(results[1], FailureKind::kCompile, one.words);
    for (const std::size_t i : {0, 2, 3, 4})
      EXPECT_EQ(read(results[i]).entry, std::string(1, static_cast<char>('a' + i)));
  }
}

TEST(CompileWorkers, SurvivesABatchOfNothingButCrashes) {
  CompileWorkers workers(options());
  const std::vector<Compiled> results = workers.compile(std::vector<Source>(5, source("bad", "crash")));
  for (const Compiled& one : results) expect_failure(one, FailureKind::kCompile, "SIGSEGV");
  EXPECT_EQ(read(workers.compile(std::vector<Source>{source("good")})[0]).entry, "good");
}

TEST(CompileWorkers, KillsACompilationThatNeverEnds) {
  CompileWorkersOptions hurried = options();
  hurried.compiler.time_limit_s = 0.5;
  CompileWorkers workers(hurried);
  const std::vector<Compiled> results =
      workers.compile(std::vector<Source>{source("stuck", "hang"), source("a"), source("b")});
  expect_failure(results[0], FailureKind::kCompileTimeout, "the compiler was killed after 1.5 s");
  EXPECT_GE(std::get<Failure>(results[0]).resources.compile_s, 1.5);
  EXPECT_EQ(read(results[1]).entry, "a");
  EXPECT_EQ(read(results[2]).entry, "b");
}

TEST(CompileWorkers, EndsACompilationWhenTheTimeIsUp) {
  CompileWorkers workers(options(1));
  const std::vector<Compiled> results =
      workers.compile(std::vector<Source>{source("stuck", "hang"), source("a", "hang")}, 0.5);
  for (const Compiled& one : results) expect_failure(one, FailureKind::kInterrupted, kCompiledTooLate);
  EXPECT_EQ(read(workers.compile(std::vector<Source>{source("b")})[0]).entry, "b");
}

TEST(CompileWorkers, LimitsTheMemoryOfACompilation) {
  if (!kMemoryIsLimited)
    GTEST_SKIP() << "no memory limit under this sanitizer (measure/system/memory_limit.h)";
  CompileWorkersOptions small = options();
  small.memory_bytes = std::int64_t{256} << 20;
  CompileWorkers workers(small);
  const std::vector<Compiled> results = workers.compile(std::vector<Source>{
      source("greedy", "devour"), source("a"), source("careless", "starve"), source("b")});
  expect_failure(results[0], FailureKind::kOutOfMemory, "NVRTC ran out of memory");
  expect_failure(results[2], FailureKind::kCompile, "SIGABRT");
  EXPECT_EQ(read(results[1]).entry, "a");
  EXPECT_EQ(read(results[3]).entry, "b");
}

TEST(CompileWorkers, RejectsByTheLogAndKeepsTheWorker) {
  CompileWorkers workers(options(1));
  const std::vector<Compiled> results = workers.compile(std::vector<Source>{
      source("a"), source("b", "refuse"), source("c", "spill"), source("d", "advise"), source("e")});
  expect_failure(results[1], FailureKind::kCompile, "b.cu(7): error");
  expect_failure(results[2], FailureKind::kRejected, "spilled 20 bytes per thread");
  EXPECT_EQ(std::get<Failure>(results[2]).resources.spill_bytes, 20);
  EXPECT_EQ(std::get<Failure>(results[2]).resources.stack_bytes, 16);
  EXPECT_EQ(std::get<Failure>(results[2]).resources.registers, 40);
  expect_failure(results[3], FailureKind::kRejected, "(C7510) Potential Performance Loss");
  EXPECT_EQ(read(results[0]).pid, read(results[4]).pid);
}

TEST(CompileWorkers, AnswersTheNextBatchRightAfterABrokenEnvironmentEndedOne) {
  CompileWorkers workers(options());
  EXPECT_THROW(
      workers.compile(std::vector<Source>{source("a", "slow"), source("b", "option"), source("c", "slow")}),
      Error);
  const std::vector<Compiled> results =
      workers.compile(std::vector<Source>{source("x"), source("y"), source("z")});
  EXPECT_EQ(read(results[0]).entry, "x");
  EXPECT_EQ(read(results[1]).entry, "y");
  EXPECT_EQ(read(results[2]).entry, "z");
}

TEST(CompileWorkers, ReplacesAWorkerThatDiedWhileIdle) {
  CompileWorkers workers(options(1));
  const int first = read(workers.compile(std::vector<Source>{source("a")})[0]).pid;
  kill(first, SIGKILL);
  // The worker may die before the next request or during it. In the second case the compiler is blamed.
  const Compiled second = workers.compile(std::vector<Source>{source("b")})[0];
  if (const auto* failure = std::get_if<Failure>(&second)) {
    EXPECT_EQ(failure->kind, FailureKind::kOutOfMemory);
  }
  const Compilation third = read(workers.compile(std::vector<Source>{source("c")})[0]);
  EXPECT_EQ(third.entry, "c");
  EXPECT_NE(third.pid, first);
}

TEST(CompileWorkers, LeavesNoFilesBehind) {
  const TempDir base;
  {
    CompileWorkersOptions here = options();
    here.temp_base = base.path();
    CompileWorkers workers(here);
    workers.compile(std::vector<Source>{source("a"), source("b", "crash"), source("c")});
  }
  std::size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(base.path())) left += entry.is_directory();
  EXPECT_EQ(left, 0u);
}

TEST(CompileWorkers, SaysInOneSentenceWhatIsMissing) {
  CompileWorkersOptions old = options();
  old.compiler.arch = "sm_20";
  try {
    CompileWorkers workers(old);
    FAIL() << "sm_20 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_THAT(error.what(), HasSubstr("cannot compile for sm_20; it knows sm_75"));
  }
  CompileWorkersOptions no_worker = options();
  no_worker.worker.program = "/bin/true";
  EXPECT_THROW(CompileWorkers{no_worker}, Error);
}

}  // namespace
}  // namespace lehr
