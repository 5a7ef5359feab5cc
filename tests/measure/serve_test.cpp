// Tests of one trial inside a worker, with a runner whose times the test dictates: disturbed windows are
// timed again.
#include "measure/worker/serve.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "measure/core/problem_file.h"
#include "measure/system/temp_dir.h"
#include "tune/workload_problem.h"

namespace lehr {
namespace {

/// The answers of the runner of the running test; the last entry is repeated.
struct Script {
  std::vector<double> reference_us;
  std::vector<Samples> candidate;
  std::size_t references = 0, candidates = 0;
  int checks = 0, looks = 0;               ///< calls of check() and check_left()
  SampleRequest last = {};                 ///< the candidate's last request
  std::vector<std::uint64_t> inputs = {};  ///< seeds that replace_inputs() was given
  int by_host = 0;
};
Script script;

template <typename T>
const T& answer_of(const std::vector<T>& of, std::size_t& used) {
  return of.at(std::min(used++, of.size() - 1));
}

class ScriptedRunner : public VendorRunner {
 public:
  void prepare(const Problem&, const RunSettings&) override {}
  std::variant<Checked, Fault> check(int) override {
    ++script.checks;
    return Checked{};
  }
  std::variant<Checked, Fault> check_left(int) override {
    ++script.looks;
    return Checked{};
  }
  void replace_inputs(const Problem& problem) override { script.inputs.push_back(problem.seed); }
  std::variant<Checked, Fault> check_by_host(int) override {
    ++script.by_host;
    return Checked{};
  }
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override {
    if (slot != kReferenceSlot) {
      script.last = request;
      return answer_of(script.candidate, script.candidates);
    }
    return Samples{.us = {answer_of(script.reference_us, script.references)}};
  }
};

Timing trial_of(Script given, double contender_us = 0, double wanted_s = kNoLimitS, double best_us = 0) {
  script = std::move(given);
  ScriptedRunner runner;
  Server server(runner, workload_kinds());
  TrialRequest request;
  request.candidate.entry = "candidate";
  request.sampling.contender_us = contender_us;
  request.wanted_s = wanted_s;
  request.best_us = best_us;
  request.reference = ReferenceKernel{Candidate{.path = "", .entry = "reference", .launch = {}}, 100};
  return std::get<Timing>(server.answer(request));
}

Samples samples(double us, double share = 1) {
  return Samples{.us = std::vector<double>(15, us), .hopeless = false, .cpu_share = share};
}

TEST(Trial, IsTimedOnceWhereNothingDisturbs) {
  const Timing timing = trial_of({{100, 102}, {samples(50)}});
  EXPECT_EQ(timing.windows, 1);
  EXPECT_FALSE(timing.disturbed);
  EXPECT_NEAR(timing.time_us, 50 * 100 / 101.0, 1e-9);
}

TEST(Trial, IsTimedAgainWhenTheReferenceMoved) {
  const Timing timing = trial_of({{100, 120, 121}, {samples(60), samples(61)}});
  EXPECT_EQ(timing.windows, 2);
  EXPECT_FALSE(timing.disturbed);
  EXPECT_EQ(timing.samples_us, samples(61).us);
  EXPECT_EQ(timing.reference_us, 120.5);
}

TEST(Trial, IsTimedAgainWhenItsCpuWasTakenAway) {
  const Timing timing = trial_of({{100}, {samples(80, 0.6), samples(50, 0.99)}});
  EXPECT_EQ(timing.windows, 2);
  EXPECT_FALSE(timing.disturbed);
  EXPECT_EQ(timing.time_us, 50);
}

TEST(Trial, TakesTheCalmestOfSomeWindowsAndSaysSo) {
  const Timing timing =
      trial_of({{100, 150, 120, 200}, {samples(60), samples(61), samples(62), samples(63)}});
  EXPECT_EQ(timing.windows, kAttempts);
  EXPECT_TRUE(timing.disturbed);
  EXPECT_EQ(timing.samples_us, samples(61).us);  // 150 to 120: the smallest of three moves
}

TEST(Trial, AWindowIsOnlyTimedAgainForWhoMightBeAContender) {
  const Script half_a_cpu = {{100}, {samples(300, 0.5), samples(150)}};
  EXPECT_EQ(trial_of(half_a_cpu, 160).windows, 2);
  EXPECT_EQ(trial_of(half_a_cpu, 140).windows, 1);
  EXPECT_TRUE(trial_of(half_a_cpu, 140).disturbed);
  const Script slow_machine = {{100, 200, 100}, {samples(300), samples(150)}};
  EXPECT_EQ(trial_of(slow_machine, 160).windows, 3);
  EXPECT_EQ(trial_of(slow_machine, 140).windows, 1);
}

TEST(Trial, OnAMachineThatIsNeverCalmEachCandidateGetsOneWindow) {
  script = {{100}, {samples(80, 0.5)}};
  ScriptedRunner runner;
  Server server(runner, workload_kinds());
  TrialRequest request;
  request.reference = ReferenceKernel{Candidate{.path = "", .entry = "reference", .launch = {}}, 100};
  const auto windows = [&] { return std::get<Timing>(server.answer(request)).windows; };
  for (int trial = 0; trial < kRestless; ++trial) EXPECT_EQ(windows(), kAttempts);
  EXPECT_EQ(windows(), 1);
  script.candidate = {samples(80)};
  EXPECT_EQ(windows(), 1);
  script.candidate = {samples(80, 0.5)};
  EXPECT_EQ(windows(), kAttempts);
}

TEST(Trial, AHopelessCandidateGetsNoSecondWindow) {
  Samples hopeless = samples(900, 0.2);
  hopeless.hopeless = true;
  EXPECT_EQ(trial_of({{100, 150}, {hopeless}}).windows, 1);
}

TEST(Trial, IsCheckedBeforeEachWindowAndBehindIt) {
  trial_of({{100, 120, 121}, {samples(60), samples(61)}});
  EXPECT_EQ(script.checks, 3);
  EXPECT_EQ(script.looks, 2);
  EXPECT_EQ(script.last.max_total_us, SampleRequest{}.max_total_us);
}

TEST(Trial, BehindItsTimeGetsWhatAVerdictNeeds) {
  const Timing timing = trial_of({{100, 150}, {samples(60, 0.5)}}, 0, -1);
  EXPECT_EQ(timing.windows, 1);
  EXPECT_TRUE(timing.disturbed);
  EXPECT_EQ(timing.time_us, 60);
  EXPECT_EQ(timing.reference_us, 0);
  EXPECT_EQ(script.references, 0u);
  EXPECT_EQ(script.checks, 1);
  EXPECT_EQ(script.looks, 1);  // the output of the timed calls, without another call
  EXPECT_EQ(script.last.max_total_us, 0);
  EXPECT_EQ(script.last.few_samples, 3);
}

// A window may be lucky, for example with a clock that was high for some milliseconds.
TEST(Trial, ANewBestIsWhatTheSlowerOfTwoWindowsSays) {
  const Script lucky = {{100}, {samples(60), samples(75), samples(50)}};
  const Timing timing = trial_of(lucky, 0, kNoLimitS, 70);
  EXPECT_TRUE(timing.confirmed);
  EXPECT_EQ(timing.windows, 2);
  EXPECT_EQ(timing.time_us, 75);
  EXPECT_EQ(timing.samples_us, samples(75).us);  // one list, of which the time is the quartile
  const Timing steady = trial_of({{100}, {samples(60), samples(58)}}, 0, kNoLimitS, 70);
  EXPECT_TRUE(steady.confirmed);
  EXPECT_EQ(steady.time_us, 60);
  // Only a new best is timed again.
  EXPECT_EQ(trial_of(lucky, 0, kNoLimitS, 60).windows, 1);
  EXPECT_EQ(trial_of(lucky, 0, kNoLimitS, 0).windows, 1);
  EXPECT_FALSE(trial_of(lucky, 0, -1, 70).confirmed) << "behind its time";
}

TEST(Trial, ADisturbedWindowConfirmsNothing) {
  const Timing timing = trial_of({{100}, {samples(60), samples(90, 0.5)}}, 0, kNoLimitS, 70);
  EXPECT_FALSE(timing.confirmed);
  EXPECT_EQ(timing.time_us, 60);
  EXPECT_FALSE(timing.disturbed);
}

TEST(Trial, IsSampledNoLongerThanItsTime) {
  trial_of({{100}, {samples(60)}}, 0, 0.2);
  EXPECT_LE(script.last.max_total_us, 200000);
  EXPECT_GT(script.last.max_total_us, 100000);
}

TEST(Proof, SwapsInputsOnceHoweverManyAreProven) {
  script = {};
  ScriptedRunner runner;
  Server server(runner, workload_kinds());
  const TempDir directory;
  const auto stored = [&](std::uint64_t seed) {
    const std::string path = fmt::format("{}/{}", directory.path(), seed);
    write_problem(path, asked_problem(parse_workload("gemm m=2 n=2 k=2"), seed));
    return path;
  };
  const std::string own = stored(1), other = stored(2);
  const Done prepared = std::get<Done>(server.answer(PrepareRequest{"", own, {}}));
  EXPECT_GT(prepared.inputs_s, 0);
  EXPECT_GT(prepared.expected_s, 0);
  EXPECT_GT(prepared.stored_s, 0);
  for (const std::string& path : {other, other, other, own, own}) server.answer(InputsRequest{path});
  EXPECT_EQ(script.inputs, (std::vector<std::uint64_t>{2, 1}));
  // A proof may end without its second half. The work after it runs on the prepared inputs.
  script.candidate = {samples(50)};
  server.answer(InputsRequest{other});
  EXPECT_TRUE(std::holds_alternative<Timing>(server.answer(TrialRequest{})));
  server.answer(InputsRequest{other});
  EXPECT_TRUE(std::holds_alternative<Done>(server.answer(LoadRequest{})));
  EXPECT_EQ(script.inputs, (std::vector<std::uint64_t>{2, 1, 2, 1, 2, 1}));
}

TEST(Proof, MakesItsLeastCallsHoweverShortItsTime) {
  script = {};
  ScriptedRunner runner;
  Server server(runner, workload_kinds());
  EXPECT_TRUE(std::holds_alternative<Done>(server.answer(ProveRequest{2, 200, 2, 0, false})));
  EXPECT_EQ(script.checks, 2);
  EXPECT_EQ(script.by_host, 0);
  EXPECT_TRUE(std::holds_alternative<Done>(server.answer(ProveRequest{2, 200, 2, 60, true})));
  EXPECT_EQ(script.checks, 202);
  EXPECT_EQ(script.by_host, 1);
}

}  // namespace
}  // namespace lehr
