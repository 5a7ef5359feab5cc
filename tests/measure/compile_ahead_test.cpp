// The next chunk is compiled while this one is timed, where that is wanted, and what nobody wants goes away.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "measuring.h"

namespace lehr {
namespace {

using testing::local_options;
using testing::right_source;
using testing::square_problem;

using CompilingAhead = testing::Measuring;

/// A compiler that tells how many trials were done when each call began, and keeps the paths of what it made.
class WatchedCompiler : public Compiler {
 public:
  explicit WatchedCompiler(Compiler& compiler) : compiler_(compiler) {}
  std::vector<Compiled> compile(std::span<const Source> sources) override {
    std::unique_lock lock(mutex_);
    ++calls;
    // The second chunk is only ready after a trial of the first: who waits for it before that waits in vain.
    if (wait_for_a_trial && calls == 2)
      overlapped = changed_.wait_for(lock, std::chrono::seconds(60), [this] { return trials_ > 0; });
    trials_at_call.push_back(trials_);
    lock.unlock();
    std::vector<Compiled> results = compiler_.compile(sources);
    lock.lock();
    for (const Compiled& one : results) paths.push_back(std::get<Binary>(one).path);
    return results;
  }
  std::string identity() const override { return compiler_.identity(); }
  void done() {
    const std::lock_guard lock(mutex_);
    ++trials_;
    changed_.notify_all();
  }

  bool wait_for_a_trial = false, overlapped = false;
  int calls = 0;
  std::vector<int> trials_at_call;
  std::vector<std::string> paths;

 private:
  Compiler& compiler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int trials_ = 0;
};

TEST_F(CompilingAhead, CompilesTheNextChunkWhileThisOneIsTimedOnlyWhenToldTo) {
  for (const bool overlap : {false, true}) {
    SCOPED_TRACE(overlap);
    WatchedCompiler compiler(*compiler_);
    compiler.wait_for_a_trial = overlap;
    LocalOptions options = local_options();
    options.chunk = 2;
    options.overlap = overlap;
    LocalMeasurer measurer(compiler, options);
    measurer.prepare(square_problem());
    const std::vector<Source> sources(5, right_source());
    std::vector<std::size_t> order;
    const std::vector<Outcome> outcomes = measurer.measure(sources, [&](std::size_t i, const Outcome&) {
      order.push_back(i);
      compiler.done();
    });
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
    for (const Outcome& outcome : outcomes) EXPECT_TRUE(std::holds_alternative<Timing>(outcome));
    EXPECT_EQ(compiler.overlapped, overlap);
    EXPECT_EQ(measurer.spent().kernels, 5);
    if (overlap) {
      EXPECT_GT(measurer.spent().compiling_s, measurer.spent().compile_s);
    } else {
      EXPECT_EQ(compiler.trials_at_call, (std::vector<int>{0, 2, 4}));
      EXPECT_NEAR(measurer.spent().compiling_s, measurer.spent().compile_s, 1e-3);
    }
  }
}

TEST_F(CompilingAhead, CutsAShortBatchInHalvesButKeepsItsCompilersBusy) {
  struct Expected {
    bool overlap;
    int jobs, calls;
  };
  for (const auto& [overlap, jobs, calls] :
       {Expected{true, 1, 2}, {true, 3, 2}, {true, 4, 1}, {false, 1, 1}}) {
    SCOPED_TRACE(::testing::Message() << overlap << " " << jobs);
    WatchedCompiler compiler(*compiler_);
    LocalOptions options = local_options();
    options.compile_jobs = jobs;
    options.overlap = overlap;
    LocalMeasurer measurer(compiler, options);
    measurer.prepare(square_problem());
    measurer.measure(std::vector<Source>(4, right_source()), {});
    EXPECT_EQ(compiler.calls, calls);
  }
}

TEST_F(CompilingAhead, DropsWhatWasCompiledAheadWhenABatchIsLeft) {
  WatchedCompiler compiler(*compiler_);
  {
    LocalOptions options = local_options();
    options.chunk = 1;
    options.overlap = true;
    LocalMeasurer measurer(compiler, options);
    measurer.prepare(square_problem());
    const std::vector<Source> sources(4, right_source());
    struct Left {};
    EXPECT_THROW(measurer.measure(sources, [](std::size_t, const Outcome&) { throw Left(); }), Left);
    EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(sources, {}).back()));
    EXPECT_THROW(measurer.measure(sources, [](std::size_t, const Outcome&) { throw Left(); }), Left);
  }
  for (const std::string& path : compiler.paths) EXPECT_FALSE(std::filesystem::exists(path)) << path;
}

}  // namespace
}  // namespace lehr
