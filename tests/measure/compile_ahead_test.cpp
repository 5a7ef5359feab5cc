// Tests that one source is timed while the next ones are compiled, where that is wanted. How many are asked
// for beforehand is a matter of counts, and sources that nobody wants go away.
#include "measure/worker/compile_ahead.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "base/error.h"
#include "measuring.h"

namespace lehr {
namespace {

using testing::local_options;
using testing::right_source;
using testing::square_problem;

using CompilingAhead = testing::Measuring;

/// A compiler that keeps the sizes of its calls, how many trials were done at each, and the paths of its
/// outputs.
class WatchedCompiler : public Compiler {
 public:
  explicit WatchedCompiler(Compiler& compiler) : compiler_(compiler) {}
  std::vector<Compiled> compile(std::span<const Source> sources, double most_s) override {
    std::unique_lock lock(mutex_);
    calls.push_back(sources.size());
    most_s_of_calls.push_back(most_s);
    trials_at_call.push_back(trials_);
    // The second one is only ready after a trial of the first. A caller that waits for it before that waits
    // in vain.
    if (wait_for_a_trial && calls.size() == 2)
      overlapped = changed_.wait_for(lock, std::chrono::seconds(60), [this] { return trials_ > 0; });
    lock.unlock();
    std::vector<Compiled> results = compiler_.compile(sources, most_s);
    lock.lock();
    for (const Compiled& one : results)
      if (const auto* binary = std::get_if<Binary>(&one)) paths.push_back(binary->path);
    return results;
  }
  std::string identity() const override { return compiler_.identity(); }
  void done() {
    const std::lock_guard lock(mutex_);
    ++trials_;
    changed_.notify_all();
  }

  bool wait_for_a_trial = false, overlapped = false;
  std::vector<std::size_t> calls;
  std::vector<double> most_s_of_calls;
  std::vector<int> trials_at_call;
  std::vector<std::string> paths;

 private:
  Compiler& compiler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int trials_ = 0;
};

TEST_F(CompilingAhead, TimesOneWhileTheNextOnesAreCompiledOnlyWhenToldTo) {
  for (const bool overlap : {false, true}) {
    SCOPED_TRACE(overlap);
    WatchedCompiler compiler(*compiler_);
    compiler.wait_for_a_trial = overlap;
    LocalOptions options = local_options();
    options.compile_jobs = 2;
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
      EXPECT_EQ(compiler.calls, std::vector<std::size_t>(5, 1));
      EXPECT_GT(measurer.spent().compiling_s, measurer.spent().compile_s);
    } else {
      EXPECT_EQ(compiler.calls, (std::vector<std::size_t>{2, 2, 1}));
      EXPECT_EQ(compiler.trials_at_call, (std::vector<int>{0, 2, 4}));
      EXPECT_NEAR(measurer.spent().compiling_s, measurer.spent().compile_s, 1e-3);
    }
  }
}

/// Returns how often `measurer` has asked for a source before each outcome of `count`; every third does not
/// compile.
std::vector<std::size_t> asked_before_done(LocalMeasurer& measurer, std::size_t count) {
  std::size_t given = 0, asked = 0;
  std::vector<std::size_t> asked_before;
  const auto next = [&]() -> std::optional<Source> {
    ++asked;
    if (given == count) return std::nullopt;
    return given++ % 3 == 1 ? testing::source("this is no C++") : right_source();
  };
  const std::size_t measured = measurer.measure(next, [&](std::size_t i, const Outcome& outcome) {
    EXPECT_EQ(i, asked_before.size());
    EXPECT_EQ(std::holds_alternative<Failure>(outcome), i % 3 == 1) << i;
    asked_before.push_back(asked);
  });
  EXPECT_EQ(measured, count);
  EXPECT_EQ(asked, count + 1) << "it is asked again behind the first nothing, or not up to it";
  return asked_before;
}

TEST_F(CompilingAhead, HowOftenItAsksBeforeAnOutcomeFollowsFromItsOptions) {
  constexpr std::size_t kCount = 7;
  for (const bool overlap : {false, true}) {
    for (const int jobs : {1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << "overlap " << overlap << ", jobs " << jobs);
      LocalOptions options = local_options();
      options.compile_jobs = jobs;
      options.overlap = overlap;
      LocalMeasurer measurer(*compiler_, options);
      const auto in_flight = static_cast<std::size_t>(measurer.in_flight());
      EXPECT_EQ(in_flight, static_cast<std::size_t>(jobs + (overlap ? 1 : 0)));
      measurer.prepare(square_problem());
      std::vector<std::size_t> expected;
      for (std::size_t i = 0; i < kCount; ++i) {
        const std::size_t wanted = overlap ? i + in_flight : (i / in_flight + 1) * in_flight;
        expected.push_back(std::min(wanted, kCount + 1));
      }
      EXPECT_EQ(asked_before_done(measurer, kCount), expected);
      EXPECT_EQ(asked_before_done(measurer, kCount), expected) << "the second time";
      EXPECT_TRUE(asked_before_done(measurer, 0).empty());
    }
  }
}

TEST_F(CompilingAhead, TellsTheCompilerHowMuchTimeIsLeft) {
  for (const bool overlap : {false, true}) {
    WatchedCompiler compiler(*compiler_);
    LocalOptions options = local_options();
    options.overlap = overlap;
    LocalMeasurer measurer(compiler, options);
    measurer.prepare(square_problem());
    const std::vector<Source> sources(2, right_source());
    measurer.measure(sources, {}, {.wanted_s = 300, .most_s = 1000, .compile_s = 500});
    measurer.measure(sources, {}, {.wanted_s = 300, .most_s = 1000});
    measurer.measure(sources, {}, {.wanted_s = 300});
    ASSERT_EQ(compiler.most_s_of_calls.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
      const double most_s = i < 2 ? 500 : i < 4 ? 1000 : kNoLimitS;
      EXPECT_LE(compiler.most_s_of_calls[i], most_s);
      EXPECT_GT(compiler.most_s_of_calls[i], most_s - 200) << "on a busy machine, too";
    }
    const std::vector<Outcome> outcomes =
        measurer.measure(sources, {}, {.wanted_s = -1, .most_s = 300, .compile_s = 0});
    for (const Outcome& outcome : outcomes)
      EXPECT_EQ(std::get<Failure>(outcome).kind, FailureKind::kInterrupted);
  }
}

TEST_F(CompilingAhead, DropsWhatWasCompiledAheadWhenABatchIsLeft) {
  WatchedCompiler compiler(*compiler_);
  {
    LocalOptions options = local_options();
    options.compile_jobs = 2;
    options.overlap = true;
    LocalMeasurer measurer(compiler, options);
    measurer.prepare(square_problem());
    const std::vector<Source> sources(4, right_source());
    struct Left {};
    EXPECT_THROW(measurer.measure(sources, [](std::size_t, const Outcome&) { throw Left(); }), Left);
    EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(sources, {}).back()));
    int asked = 0;
    const auto next = [&]() -> std::optional<Source> {
      if (++asked > 4) throw Left();
      return right_source();
    };
    EXPECT_THROW(measurer.measure(next, {}), Left);
    EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(sources, {}).back()));
    EXPECT_THROW(measurer.measure(sources, [](std::size_t, const Outcome&) { throw Left(); }), Left);
  }
  for (const std::string& path : compiler.paths) EXPECT_FALSE(std::filesystem::exists(path)) << path;
}

TEST_F(CompilingAhead, TellsAnErrorOfTheCompilerInItsTurn) {
  class Broken : public Compiler {
   public:
    std::vector<Compiled> compile(std::span<const Source> sources, double) override {
      if (sources[0].entry == "broken") throw Error(ErrorKind::kEnvironment, "the disk is full");
      return {Failure{FailureKind::kCompile, sources[0].entry, {}}};
    }
    std::string identity() const override { return ""; }
  };
  Broken compiler;
  CompileAhead ahead(compiler, 3);
  for (const char* entry : {"a", "broken", "c", "d"}) {
    Source source;
    source.entry = entry;
    ahead.begin(source);
  }
  EXPECT_EQ(std::get<Failure>(ahead.take()).text, "a");
  EXPECT_THROW(ahead.take(), Error);
  EXPECT_EQ(std::get<Failure>(ahead.take()).text, "c");
  ahead.drop();
  ahead.begin(right_source());
  EXPECT_EQ(std::get<Failure>(ahead.take()).text, "kernel");
}

}  // namespace
}  // namespace lehr
