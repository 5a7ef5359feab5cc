// Tests of several tasks under one budget: which task gets turns, what the log answers, interrupts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/hash.h"
#include "support.h"
#include "tests/templates/cpu_problems.h"
#include "tune/gain_curve.h"
#include "tune/many_tasks.h"

namespace lehr::testing {
namespace {

TEST(GainCurve, ExpectsHalfOfTheLastTurnsButNeverLessThanAnAverageCurve) {
  GainCurve curve;
  EXPECT_EQ(curve.next_gain(), GainCurve::kFirst);
  curve.add_turn(100, 50, 2);
  EXPECT_DOUBLE_EQ(curve.next_gain(), 0.25);
  curve.add_turn(50, 50, 4);
  EXPECT_DOUBLE_EQ(curve.next_gain(), 0.125);
  EXPECT_DOUBLE_EQ(curve.seconds_per_turn(9), 3);
  curve.add_turn(50, 50, 4);
  EXPECT_DOUBLE_EQ(curve.next_gain(), GainCurve::kFirst / 16);
  EXPECT_LT(GainCurve(10).next_gain(), GainCurve(2).next_gain());
  EXPECT_EQ(GainCurve().seconds_per_turn(9), 9);
}

/// Returns a task of such a best time whose turns, as many as `turns`, took a second each and saved nothing.
TaskState state(double best_us, int turns = 0, double occurrences = 1) {
  TaskState state = {.occurrences = occurrences, .best_us = best_us};
  for (int i = 0; i < turns; ++i) state.curve.add_turn(best_us, best_us, 1);
  return state;
}

TEST(NextTask, IsTheOneThatSavesMostOfTheSumPerSecond) {
  EXPECT_EQ(next_task({}, 0), std::nullopt);
  EXPECT_EQ(next_task(std::vector{state(10), state(30), state(20)}, 0), 1u);
  EXPECT_EQ(next_task(std::vector{state(10, 0, 4), state(30), state(20)}, 0), 0u) << "it occurs four times";
  EXPECT_EQ(next_task(std::vector{state(10), state(30, 2), state(20)}, 0), 2u) << "its curve is flat";
  std::vector<TaskState> slow = {state(20, 1), state(30, 1)};
  slow[1].curve = GainCurve();
  slow[1].curve.add_turn(30, 30, 2);
  EXPECT_EQ(next_task(slow, 0), 0u) << "half as much per second";
}

TEST(NextTask, IsOneOfWhichNothingRanBeforeAnyOther) {
  EXPECT_EQ(next_task(std::vector{state(1000), state(0), state(2000)}, 0.5), 1u);
}

TEST(NextTask, TakesAFirstTurnToBeAsLongAsTheOthersAre) {
  std::vector<TaskState> tasks = {state(10), state(100)};
  tasks[1].curve.add_turn(100, 100, 8);  // 5 % expected, 5 us in 8 s; for the other 20 %, 2 us in as long
  EXPECT_EQ(next_task(tasks, 0), 1u);
  tasks[0].best_us = 30;
  EXPECT_EQ(next_task(tasks, 0), 0u);
}

TEST(NextTask, IsNoneWhereNoTurnIsWorthItOrMayBeTaken) {
  std::vector<TaskState> tasks = {state(10, 20), state(30, 20)};
  EXPECT_EQ(next_task(tasks, kLeastGain), 1u);
  EXPECT_EQ(next_task(tasks, 0.01), std::nullopt);
  tasks[1].may_go_on = false;
  EXPECT_EQ(next_task(tasks, 0), 0u);
  tasks[0].may_go_on = false;
  EXPECT_EQ(next_task(tasks, 0), std::nullopt);
}

TEST(Totals, HaveTheOneOfTwoThatIsUsed) {
  std::vector<SharedResult> results(3);
  results[0].occurrences = 5;
  results[0].best_us = 10;
  results[0].default_us = 20;
  results[0].uses = 3;
  results[1].occurrences = 2;
  results[1].best_us = 8;
  results[1].instead_of = 0;
  results[1].uses = 2;
  results[2].occurrences = 1;
  results[2].best_us = 0;
  results[2].instead_of = 0;
  const SharedTotals totals = totals_of(results);
  EXPECT_EQ(totals.best_us, 46);
  EXPECT_EQ(totals.default_us, 100);
}

Device some_cpu() {
  Device device;
  device.name = "a processor";
  device.limits = cpu_limits(32, 1);
  device.compiler = "a compiler";
  device.cold = true;
  return device;
}

/// Tasks on a measurer whose times are made of the sources' hashes: up to four times `least_us(source)`.
struct SharedRun {
  OpenDevice device;
  Database database = Database::open(":memory:");
  FakeClock clock;
  std::atomic<bool> interrupted = false;
  std::vector<Event> events;
  EventSink listener = [this](const Event& event) { events.push_back(event); };
  SharedOptions options;
  FakeMeasurer* measurer = nullptr;  ///< of the last run
  std::function<void(FakeMeasurer&)> arrange;
  int runs = 0;

  SharedRun() {
    device.device = some_cpu();
    options.time_s = 5;
    options.session.stop.plateau_trials = 256;
    options.session.seed = 1;
    options.session.finalists = 4;
  }

  static Outcome outcome_of(const Source& source) {
    double elements = 0;
    for (const SourceParam& param : source.params) elements += static_cast<double>(param.elements);
    Timing timing;
    const double share = static_cast<double>(stable_hash(source.text) % 1000) / 1000;
    timing.time_us = 0.01 * elements * (1 + 3 * share * share);
    timing.samples_us = {timing.time_us, timing.time_us};
    return timing;
  }

  std::vector<SharedResult> run(std::vector<SharedTask> tasks) {
    measurer = &fake(device, outcome_of, clock);
    device.stop = &interrupted;
    if (arrange) arrange(*measurer);
    recall(tasks, device.device, true, database);
    options.session.session_id = "run-" + std::to_string(++runs);
    options.session.now_s = [this] { return clock.now_s; };
    options.session.on_event = listener;
    return tune_tasks(tasks, device, {database}, options);
  }
};

SharedTask product(int m, double occurrences = 1) {
  return {parse_workload("gemm m=" + std::to_string(m) + " n=64 k=64"), occurrences};
}

TEST(ManyTasks, GiveTheTimeToTheTaskThatCountsMost) {
  SharedRun shared;
  const std::vector<SharedResult> results = shared.run({product(8), product(16), product(64, 30)});
  ASSERT_EQ(results.size(), 3u);
  for (const SharedResult& each : results) {
    EXPECT_EQ(each.knowledge, Knowledge::kNew);
    ASSERT_TRUE(each.summary);
    EXPECT_TRUE(each.summary->contested);
    EXPECT_GT(each.best_us, 0);
    EXPECT_LE(each.best_us, each.default_us);
  }
  EXPECT_GT(results[2].turns, results[0].turns + results[1].turns);
  EXPECT_GT(results[2].summary->measured, 2 * results[0].summary->measured);
  EXPECT_LE(shared.clock.now_s, shared.options.time_s * 1.1);
  EXPECT_GT(shared.clock.now_s, shared.options.time_s * 0.5);
  double total_us = 0;
  for (const SharedResult& each : results) total_us += each.occurrences * each.best_us;
  EXPECT_DOUBLE_EQ(totals_of(results).best_us, total_us);
}

// Before the finals the inputs are put in place again. A measurer forgets then how long libraries may search.
TEST(ManyTasks, SayHowLongLibrariesMaySearchInTheirFinals) {
  SharedRun shared;
  shared.options.session.baselines = {"vendor"};
  shared.options.session.stop.cut_searches = true;
  shared.run({product(8), product(64, 30)});
  ASSERT_TRUE(shared.measurer->searches.contains("vendor"));
  EXPECT_GT(shared.measurer->searches.at("vendor").seconds, 0);
}

TEST(ManyTasks, SearchOfSeveralFormsThoseThatAreUsed) {
  SharedRun shared;
  std::vector<SharedTask> tasks = {product(32, 3), product(64, 3), product(48)};
  tasks[1].instead_of = 0;
  std::vector<double> at_first;
  shared.options.uses = [&](const std::vector<double>& best_us) {
    if (at_first.empty()) at_first = best_us;
    return std::vector<double>{0, 3, 1};
  };
  const std::vector<SharedResult> results = shared.run(tasks);
  ASSERT_EQ(at_first.size(), 3u) << "asked with the defaults' times";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(at_first[i], results[i].default_us);
  EXPECT_EQ(results[0].turns, 0);
  EXPECT_GT(results[1].turns, 0);
  EXPECT_EQ(results[1].uses, 3);
  EXPECT_EQ(totals_of(results).best_us, 3 * results[1].best_us + results[2].best_us);
}

TEST(ManyTasks, ReportWhatAllOfThemComeTo) {
  SharedRun shared;
  shared.run({product(8), product(64, 30)});
  ASSERT_FALSE(shared.events.empty());
  double before_us = 0;
  for (const Event& event : shared.events) {
    ASSERT_TRUE(event.shared);
    EXPECT_EQ(event.shared->tasks, 2);
    ASSERT_TRUE(event.eta_s);
    if (event.shared->known < 2) continue;
    if (before_us > 0) {
      EXPECT_LE(event.shared->best_us, before_us + 1e-9);
    }
    before_us = event.shared->best_us;
  }
  EXPECT_GT(before_us, 0);
}

TEST(ManyTasks, GoOnWhenTheirListenerThrows) {
  SharedRun shared;
  int calls = 0;
  shared.listener = [&](const Event&) {
    if (++calls == 10) throw std::string("no exception of the standard library");
  };
  for (const SharedResult& each : shared.run({product(8), product(64, 30)})) {
    ASSERT_TRUE(each.summary);
    EXPECT_TRUE(each.summary->contested);
  }
  EXPECT_EQ(calls, 10);
}

TEST(ManyTasks, TakeWhatIsKnownFromTheLog) {
  SharedRun shared;
  const std::vector<SharedResult> first = shared.run({product(8), product(64, 30)});
  // The promised gain is so small that nothing is measured again.
  for (int i = 0; i < 4; ++i) shared.run({product(8), product(64, 30)});
  const std::vector<SharedResult> again = shared.run({product(8), product(64, 30), product(512)});
  EXPECT_EQ(again[0].knowledge, Knowledge::kKnown);
  EXPECT_EQ(again[1].knowledge, Knowledge::kKnown);
  EXPECT_EQ(again[2].knowledge, Knowledge::kNear);  // three times twice as many rows
  EXPECT_FALSE(again[0].summary);
  EXPECT_GT(again[0].best_us, 0);
  EXPECT_LE(again[0].best_us, first[0].best_us * 1.0001);
  EXPECT_TRUE(again[2].summary);
  // Warm times are hints to a cold task, and no answers.
  shared.device.device.cold = false;
  std::vector<SharedTask> warm = {product(8)};
  recall(warm, shared.device.device, true, shared.database);
  EXPECT_EQ(warm[0].knowledge, Knowledge::kNear);
  EXPECT_FALSE(warm[0].verdict);
  EXPECT_EQ(warm[0].timed, 0);
}

TEST(ManyTasks, GoOnAfterAnInterrupt) {
  SharedRun shared;
  shared.arrange = [&](FakeMeasurer& measurer) {
    measurer.before_trial = [&](int trial) { shared.interrupted = trial >= 40; };
  };
  const std::vector<SharedResult> cut = shared.run({product(8), product(64, 30)});
  EXPECT_TRUE(shared.database.verdicts({.workload = "", .device = "", .target = "", .family = ""}).empty());
  const std::int64_t rows = shared.database.stats().records;
  EXPECT_GE(rows, 40);
  EXPECT_GT(cut[1].best_us, 0);
  shared.interrupted = false;
  shared.arrange = nullptr;
  const std::vector<SharedResult> whole = shared.run({product(8), product(64, 30)});
  EXPECT_GT(whole[1].summary->reused, 0);
  EXPECT_EQ(shared.database.verdicts({.workload = "", .device = "", .target = "", .family = ""}).size(), 2u);
}

TEST(ManyTasks, EndWithinATenthOfTheirTime) {
  for (const double time_s : {1.0, 3.0, 10.0})
    for (const double prepare_s : {0.0, 0.1, 0.5}) {
      SharedRun shared;
      shared.options.time_s = time_s;
      shared.options.session.before_s = 0.1;
      shared.options.session.strategy = "random";
      shared.arrange = [&](FakeMeasurer& measurer) {
        measurer.prepare_s = prepare_s;
        measurer.seconds_of = [](const Source& source) {
          return 0.02 + 1e-4 * static_cast<double>(source.text.size() % 997);
        };
      };
      std::vector<SharedTask> tasks;
      for (int i = 1; i <= 12; ++i) tasks.push_back(product(8 * i));
      const std::vector<SharedResult> results = shared.run(tasks);
      EXPECT_LE(0.1 + shared.clock.now_s, 1.1 * time_s) << time_s << " " << prepare_s;
      EXPECT_TRUE(results[11].summary);
      double finals_s = 0;
      for (const SharedResult& each : results)
        if (each.summary) finals_s += each.summary->elapsed.parts.finals_s;
      EXPECT_LE(finals_s, 0.25 * time_s + 1e-9);
    }
}

TEST(ManyTasks, KeepNoTimeForFinalsThatWouldDecideNothing) {
  SharedRun shared;
  shared.options.time_s = 8;
  shared.options.session.strategy = "random";
  shared.arrange = [](FakeMeasurer& measurer) { measurer.seconds_of = [](const Source&) { return 1.0; }; };
  std::vector<SharedTask> tasks;
  for (int i = 1; i <= 12; ++i) tasks.push_back(product(8 * i));
  const std::vector<SharedResult> results = shared.run(tasks);
  const auto begun =
      std::ranges::count_if(results, [](const SharedResult& each) { return each.summary.has_value(); });
  EXPECT_GE(begun, 7);  // with their defaults alone
  EXPECT_LE(shared.clock.now_s, 8.8);
}

TEST(ManyTasks, GiveTheFinalsToThoseThatHadTurns) {
  SharedRun shared;
  shared.options.time_s = 15;
  shared.options.session.strategy = "random";
  shared.arrange = [](FakeMeasurer& measurer) { measurer.seconds_of = [](const Source&) { return 0.4; }; };
  std::vector<SharedTask> tasks;
  for (int i = 1; i <= 10; ++i) tasks.push_back(product(8 * i));
  int searched = 0;
  for (const SharedResult& each : shared.run(tasks)) {
    ASSERT_TRUE(each.summary);
    searched += each.turns > 0 ? 1 : 0;
    EXPECT_EQ(each.summary->contested, each.turns > 0)
        << "no time is spent on a default that nobody contests";
    EXPECT_TRUE(each.turns > 0 || each.summary->verdict.provisional);
  }
  EXPECT_GE(searched, 1);
  EXPECT_LE(searched, 3);
  EXPECT_GE(shared.measurer->last_budget_s, 0.9);
}

TEST(ManyTasks, CompileDefaultsTogetherBeforeTheyAreTimed) {
  SharedRun shared;
  shared.arrange = [](FakeMeasurer& measurer) { measurer.window = 2; };
  std::vector<SharedTask> tasks;
  for (int i = 1; i <= 20; ++i) tasks.push_back(product(8 * i));
  shared.run(tasks);
  EXPECT_THAT(shared.measurer->batches,
              ::testing::ElementsAre(::testing::Pair(0, 16), ::testing::Pair(16, 4)));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_LE(shared.measurer->left[i].wanted_s, 0.05) << "a short window";
}

TEST(ManyTasks, KeepTimeForWhatComesBehindThem) {
  SharedRun shared;
  shared.options.time_s = 20;
  shared.arrange = [](FakeMeasurer& measurer) { measurer.seconds_of = [](const Source&) { return 0.4; }; };
  std::vector<SharedTask> tasks;
  for (int i = 1; i <= 12; ++i) tasks.push_back(product(8 * i));
  double last_us = 0;
  shared.options.behind_s = [&](double sum_us, double compile_s) {
    last_us = sum_us;
    EXPECT_NEAR(compile_s, sum_us > 0 ? 0.4 : compile_s, 1e-9);
    return 3;
  };
  const std::vector<SharedResult> results = shared.run(tasks);
  EXPECT_NEAR(last_us, totals_of(results).best_us, 0.5 * last_us);
  EXPECT_LE(shared.clock.now_s, 1.1 * 17);
  EXPECT_GT(shared.clock.now_s, 12);
  // Each task has its default even where too little time is left for what comes behind.
  SharedRun late;
  late.options = shared.options;
  late.arrange = shared.arrange;
  late.options.behind_s = [](double, double) { return 100; };
  for (const SharedResult& each : late.run(tasks)) {
    EXPECT_GT(each.best_us, 0);
    EXPECT_EQ(each.turns, 0);
  }
}

TEST(ManyTasks, NameWhatNoTimeWasLeftFor) {
  SharedRun shared;
  shared.options.time_s = 1;
  std::vector<SharedTask> tasks;
  for (int i = 1; i <= 40; ++i) tasks.push_back(product(i));
  const std::vector<SharedResult> results = shared.run(tasks);
  EXPECT_FALSE(results[0].summary);  // the smallest comes last
  EXPECT_EQ(results[0].best_us, 0);
  EXPECT_TRUE(results[39].summary);
}

}  // namespace
}  // namespace lehr::testing
