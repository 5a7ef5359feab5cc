// Tests of a second session over the first one's rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <set>

#include "codegen/source_hash.h"
#include "support.h"
#include "tune/resume.h"
#include "tune/stored_kernel.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

std::vector<Config> configs_in(const std::vector<std::string>& entries) {
  std::vector<Config> configs;
  for (const std::string& entry : entries) {
    Source source;
    source.entry = entry;
    configs.push_back(config_of(source));
  }
  return configs;
}

TEST(Resume, ReusesEarlierTrialsAndSaysSo) {
  ToySession toy;
  toy.run();
  toy.options.session_id = "session-2";
  toy.options.seed = 2;
  const Summary summary = toy.run();
  EXPECT_EQ(summary.reused, 64);
  EXPECT_EQ(summary.resume_text, "reused 64 trials of 1 earlier run");
  std::set<std::string> first;
  for (const Record& row : toy.rows("session-1")) first.insert(to_text(row.config));
  for (const Record& row : toy.rows("session-2")) {
    const bool known = first.contains(to_text(row.config));
    EXPECT_EQ(known, row.picked_by == "default" || row.picked_by == "resume") << row.picked_by;
  }
  // There are 64 new trials, and at most the finalists again.
  EXPECT_GE(summary.measured, 64);
  EXPECT_LE(summary.measured, 64 + static_cast<int>(SessionOptions{}.finalists));
}

TEST(Resume, StoresWithEachTrialWhatWasMeasuredAndWithWhatFacts) {
  ToySession toy;
  toy.run();
  const auto devices = toy.database.devices();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices.begin()->second.identity, identity_of(toy.task.device));
  for (const Record& row : toy.rows("session-1")) {
    EXPECT_EQ(row.device_hash, devices.begin()->first);
    const auto source = try_emit(toy.candidates, toy.candidates.space.point_of(row.config));
    EXPECT_EQ(row.source_hash, hash_of(std::get<Source>(source)));
  }
}

// The emitter has changed without a new version: a time belongs to the kernel that was measured, and to no
// other.
TEST(Resume, TakesNoTimeOfAnotherKernelForAnAnswer) {
  ToySession toy;
  toy.run();
  std::vector<Record> rows = toy.rows("session-1");
  const std::string identity = identity_of(toy.task.device);
  ASSERT_EQ(earlier_runs(rows, identity, toy.candidates, {}).answers.size(), rows.size());
  rows[3].source_hash ^= 1;
  rows[5].source_hash = 0;  // a failure before there was a source has only its version
  rows[5].outcome = Failure{FailureKind::kLower, "no", {}};
  const EarlierRuns earlier = earlier_runs(rows, identity, toy.candidates, {});
  EXPECT_EQ(earlier.answers.size(), rows.size() - 1);
  EXPECT_EQ(earlier.changed, 1);
  for (const KnownTrial& answer : earlier.answers) EXPECT_NE(answer.id, rows[3].id);
  EXPECT_THAT(describe(earlier),
              HasSubstr("1 stored trial is of a kernel that this version makes otherwise"));
  EXPECT_FALSE(answers(rows[3], identity, toy.candidates));
  EXPECT_TRUE(answers(rows[5], identity, toy.candidates));
  EXPECT_FALSE(answers(rows[5], identity, toy_candidates(2)));
  EXPECT_FALSE(answers(rows[5], "elsewhere", toy.candidates));
}

// export --remeasure asks for this: that config and the default, whatever the budget, and a verdict.
TEST(Resume, MeasuresWhatIsWantedByNameAndJudgesIt) {
  ToySession toy;
  toy.run();
  const Config wanted = toy_config(4, 4, 4, 0);
  toy.options.session_id = "session-2";
  toy.options.reuse = false;
  toy.options.stop.trials = 1;
  toy.options.wanted = {toy.candidates.space.point_of(wanted)};
  const Summary summary = toy.run();
  EXPECT_TRUE(summary.contested);
  EXPECT_EQ(summary.best->config, wanted);
  const std::vector<Record> rows = toy.rows("session-2");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].picked_by, "default");
  EXPECT_EQ(rows[1].picked_by, kPickedToRemeasure);
  EXPECT_EQ(rows[1].config, wanted);
  EXPECT_EQ(toy.database.verdicts({}).at(0).record_id, rows[1].id);
  // The wanted config is the default.
  toy.options.session_id = "session-3";
  toy.options.wanted = {toy.candidates.space.point_of(toy_config(1, 1, 1, 0))};
  toy.run();
  EXPECT_EQ(toy.rows("session-3").size(), 1u);
}

TEST(Resume, DoesNotLoseWhatWasFound) {
  ToySession toy;
  const double first = toy.run().verdict.best.us;
  toy.options.session_id = "session-2";
  toy.options.stop.trials = 4;
  const Summary summary = toy.run();
  EXPECT_LE(summary.verdict.best.us, first);
  EXPECT_TRUE(summary.contested);
}

// A minute, then two seconds: the log does not forget what the minute has found.
TEST(Resume, AProvenWinnerOfAnEarlierRunTakesPartInTheNextContest) {
  ToySession toy;
  const Summary first = toy.run();
  const Config won = first.best->config;
  ASSERT_FALSE(first.verdict.provisional);
  toy.options.session_id = "session-2";
  toy.options.stop = {.trials = 0, .time_s = 2};
  toy.options.finalists = 2;
  // In single trials the winner looks slow this time. In the contest it is as fast as before.
  toy.outcome_of = [won](const Source& source) {
    Outcome outcome = toy_outcome(source);
    if (config_of(source) == won) std::get<Timing>(outcome).time_us *= 3;
    return outcome;
  };
  toy.arrange = [](FakeMeasurer& measurer) {
    measurer.contest_us = [](const Source& source, int) { return toy_time_us(config_of(source)); };
  };
  const Summary second = toy.run();
  EXPECT_LE(second.verdict.best.us, first.verdict.best.us * 1.01);
  EXPECT_EQ(second.earlier, "");
  EXPECT_THAT(configs_in(toy.measurer->contested), ::testing::Contains(won));
}

TEST(Resume, WithoutTimeForItsWinnerAnEarlierVerdictStays) {
  ToySession toy;
  const Summary first = toy.run();
  const std::string winner = toy.database.verdicts({}).at(0).record_id;
  toy.options.session_id = "session-2";
  toy.options.stop = {.trials = 0, .time_s = 1};
  toy.arrange = [](FakeMeasurer& measurer) { measurer.seconds_of = [](const Source&) { return 9.0; }; };
  const Summary second = toy.run();
  EXPECT_EQ(second.best->config, first.best->config);
  EXPECT_EQ(second.verdict.best.us, first.verdict.best.us);
  EXPECT_EQ(second.earlier, "session-1");
  ASSERT_EQ(toy.database.verdicts({}).size(), 1u);
  EXPECT_EQ(toy.database.verdicts({}).at(0).record_id, winner);
  // With `reuse` off it does not look at earlier runs.
  toy.options.session_id = "session-3";
  toy.options.reuse = false;
  EXPECT_EQ(toy.run().earlier, "");
}

TEST(Resume, ModelLearnsFromReusedTrials) {
  ToySession toy;
  toy.run();
  toy.options.session_id = "session-2";
  toy.options.stop.trials = 10;
  EXPECT_GT(toy.run().fits, 0);
}

// A run that was killed or interrupted came to no verdict. The same command continues it: with the budget
// that is left, and without measuring anything again but the default.
TEST(Resume, GoesOnWithTheBudgetOfARunThatWasCutOff) {
  ToySession toy;
  toy.arrange = [&toy](FakeMeasurer& measurer) {
    measurer.before_trial = [&toy](int trial) {
      if (trial == 29) toy.interrupted = true;
    };
  };
  ASSERT_EQ(toy.run().measured, 30);
  toy.interrupted = false;
  toy.arrange = {};
  toy.options.session_id = "session-2";
  const Summary second = toy.run();
  EXPECT_EQ(second.stop, StopReason::kTrials);
  EXPECT_THAT(second.resume_text, HasSubstr("30 of the 64 trials were spent"));
  std::set<std::string> first;
  for (const Record& row : toy.rows("session-1")) first.insert(to_text(row.config));
  int fresh = 0;
  for (const Record& row : toy.rows("session-2")) {
    if (row.picked_by == "default" || row.picked_by == kPickedToResume) continue;
    EXPECT_FALSE(first.contains(to_text(row.config)));
    ++fresh;
  }
  EXPECT_EQ(fresh, 33);  // the default once more is one of the 34
  EXPECT_TRUE(second.contested);
  // That run came to its end: the next one has its whole budget.
  toy.options.session_id = "session-3";
  EXPECT_GE(toy.run().measured, 64);
}

// A shard that was ended while its winner was proven once measured all its trials again in the next attempt.
TEST(Resume, GivesNoSecondBudgetToARunThatWasCutOffInItsFinals) {
  ToySession toy;
  toy.arrange = [&toy](FakeMeasurer& measurer) {
    measurer.contest_us = [&toy](const Source& source, int) {
      toy.interrupted = true;
      return std::get<Timing>(toy_outcome(source)).time_us;
    };
  };
  ASSERT_EQ(toy.run().measured, 64);
  StoredVerdict cut_off;  // as it is where the contest had ended
  cut_off.workload = toy.rows("session-1")[0].workload;
  cut_off.device = toy.rows("session-1")[0].device;
  cut_off.session = "session-1";
  cut_off.record_id = toy.rows("session-1")[0].id;
  cut_off.provisional = true;
  toy.database.append(cut_off);
  toy.interrupted = false;
  toy.arrange = {};
  toy.options.session_id = "session-2";
  // The default and the finalists.
  EXPECT_LE(toy.run().measured, 1 + static_cast<int>(SessionOptions{}.finalists));
}

TEST(Resume, DoesNotCountWhatAnotherSeedOrALargerBudgetSpent) {
  Record row;
  row.device = "here";
  row.seed = 5;
  row.picked_by = "anneal";
  row.session = "a";
  std::vector<Record> rows;
  for (std::int64_t i = 1; i <= 10; ++i) {
    row.config = toy_config(i, 1, 1, 0);
    rows.push_back(row);
  }
  EXPECT_EQ(spent_by_cut_off_runs(rows, "here", 5, "", 10), 10);
  EXPECT_EQ(spent_by_cut_off_runs(rows, "here", 5, "", 9), 0);
  EXPECT_EQ(spent_by_cut_off_runs(rows, "here", 6, "", 10), 0);
  EXPECT_EQ(spent_by_cut_off_runs(rows, "there", 5, "", 10), 0);
  EXPECT_EQ(spent_by_cut_off_runs(rows, "here", 5, "a", 10), 0);
  // Each run measures the default again, which counts neither as a further trial nor as a larger budget.
  Record again = rows[0];
  again.picked_by = "default";
  rows.insert(rows.end(), {again, again});
  EXPECT_EQ(spent_by_cut_off_runs(rows, "here", 5, "", 10), 10);
  row.session = "b";
  rows.push_back(row);
  row.picked_by = kPickedToResume;
  rows.push_back(row);
  EXPECT_EQ(spent_by_cut_off_runs(rows, "here", 5, "a", 10), 1);
}

// Two workers lost to one config: neither this session nor a later one runs it again.
TEST(Resume, QuarantinesAConfigThatHasKilledTwoWorkers) {
  ToySession toy;
  toy.options.stop.trials = 20;
  toy.candidates.defaults.push_back(toy.candidates.space.point_of(toy_config(2, 2, 1, 0)));
  toy.outcome_of = [](const Source& source) -> Outcome {
    if (config_of(source) == toy_config(1, 1, 1, 0)) return Failure{FailureKind::kCrash, "SIGSEGV\nmore", {}};
    return toy_outcome(source);
  };
  const auto death = [&](const std::string& session) {
    toy.options.session_id = session;
    toy.run();
    return std::get<Failure>(toy.rows(session)[0].outcome).text;
  };
  EXPECT_EQ(death("session-1"), "SIGSEGV\nmore");
  EXPECT_EQ(death("session-2"), "SIGSEGV; quarantined: it has killed two workers and is not run again\nmore");
  toy.options.session_id = "session-3";
  const Summary summary = toy.run();
  EXPECT_THAT(toy.measurer->measured, ::testing::Not(::testing::Contains("toy_1_1_1_0")));
  EXPECT_EQ(summary.default_trial->config, toy_config(2, 2, 1, 0));
  EXPECT_THAT(summary.resume_text, HasSubstr("1 config is quarantined, having killed 2 workers or more"));
}

TEST(Resume, AFinalistThatFailsInTheFinalsIsARowAndNoWinner) {
  ToySession toy;
  toy.arrange = [](FakeMeasurer& measurer) {
    measurer.contest_failure = [](const Source& source) -> std::optional<Failure> {
      if (config_of(source) == toy_config(1, 1, 1, 0)) return std::nullopt;
      return Failure{FailureKind::kCrash, "SIGBUS", {}};
    };
  };
  const Summary first = toy.run();
  EXPECT_EQ(first.best->config, toy_config(1, 1, 1, 0));
  int rows = 0;
  for (const Record& row : toy.rows("session-1")) rows += row.picked_by == kPickedForFinals;
  EXPECT_EQ(rows, static_cast<int>(SessionOptions{}.finalists));
  // Each of the two has killed one worker: they are measured and timed once more, and then never again.
  toy.options.session_id = "session-2";
  toy.options.stop.trials = 1;
  toy.run();
  const std::vector<std::string> again = toy.measurer->contested;
  EXPECT_GT(again.size(), 1U);
  toy.options.session_id = "session-3";
  toy.run();
  for (std::size_t i = 1; i < again.size(); ++i)
    EXPECT_THAT(toy.measurer->measured, ::testing::Not(::testing::Contains(again[i])));
}

TEST(Session, ADefaultThatFailsInTheFinalsLeavesNoWinner) {
  ToySession toy;
  toy.arrange = [](FakeMeasurer& measurer) {
    measurer.contest_failure = [](const Source& source) -> std::optional<Failure> {
      if (config_of(source) != toy_config(1, 1, 1, 0)) return std::nullopt;
      return Failure{FailureKind::kWrongResult, "right before, but wrong in call 3\nmore", {}};
    };
  };
  const Summary summary = toy.run();
  EXPECT_FALSE(summary.best);
  EXPECT_FALSE(summary.contested);
  EXPECT_THAT(summary.unproven, HasSubstr("the default toy("));
  EXPECT_THAT(summary.unproven, HasSubstr("failed in the finals, so that nothing is proven: wrong result: "
                                          "right before, but wrong in call 3"));
}

TEST(Session, ATimeThatNoDeviceReachesIsAFailedTrial) {
  ToySession toy;
  toy.task.device.limits.peak_gflops_f32 = 1;
  toy.arrange = [](FakeMeasurer& measurer) { measurer.contest_us = [](const Source&, int) { return 10; }; };
  toy.outcome_of = [](const Source& source) -> Outcome {
    Timing timing;
    timing.time_us = config_of(source) == toy_config(1, 1, 1, 0) ? 10 : 1e-6;
    timing.samples_us = {timing.time_us};
    return timing;
  };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.failed.count(FailureKind::kImplausible), 1u);
  EXPECT_EQ(summary.timed, 1);
  EXPECT_EQ(summary.best->config, toy_config(1, 1, 1, 0));
}

// Probes of a machine that was busy with something else.
TEST(Session, ATimeIsImplausibleOnlyWhereNoBurstComesNearIt) {
  for (const double burst : {1e9, 2e-3}) {
    ToySession toy;
    toy.task.device.limits.peak_gflops_f32 = 1e-3;
    int asked = 0;
    toy.device.bound = [&] {
      ++asked;
      return burst;
    };
    const Summary summary = toy.run();
    const bool near = burst > 1e6;
    EXPECT_EQ(summary.failed.count(FailureKind::kImplausible), near ? 0u : 1u) << burst;
    EXPECT_GT(asked, 0);
    if (near) {
      EXPECT_EQ(asked, 1) << "what one burst has shown stays";
    }
  }
}

TEST(Resume, StartsAfreshWhenAskedTo) {
  ToySession toy;
  toy.run();
  toy.options.session_id = "session-2";
  toy.options.reuse = false;
  const Summary summary = toy.run();
  EXPECT_EQ(summary.reused, 0);
  EXPECT_EQ(summary.resume_text, "");
}

TEST(Resume, TakesRowsOfAnotherCompilerAsHintsOnly) {
  ToySession toy;
  toy.run();
  toy.task.device.compiler = "toycc 2.0";
  toy.options.session_id = "session-2";
  const Summary summary = toy.run();
  EXPECT_EQ(summary.reused, 0);
  EXPECT_EQ(summary.evidence, 64);
  EXPECT_THAT(summary.resume_text, HasSubstr("hints: 64 trials of 1 other task (nearest: gemm"));
  const std::vector<Record> rows = toy.rows("session-2");
  EXPECT_EQ(rows[0].picked_by, "default");
  EXPECT_EQ(rows[1].picked_by, "transfer");
  // The best config of the other device is measured here at once.
  EXPECT_LT(std::get<Timing>(rows[1].outcome).time_us, 20);
}

// A new version changes the texts of some configs: the others' times are still theirs.
TEST(Resume, TakesRowsOfAnotherTemplateVersionForAnswersWhereTheirTextsAreTheSame) {
  ToySession toy;
  toy.run();
  toy.candidates = toy_candidates(2);
  const auto lower = [space = toy.candidates.space](const Point& point) {
    const Config config = space.config_of(point);
    ir::Kernel kernel = toy_kernel(config);
    if (config.at("pack") == 1) kernel.name += "_new";
    return kernel;
  };
  lower_by(lower, toy.task.device.limits, toy.candidates);
  const auto same = std::ranges::count_if(toy.rows("session-1"),
                                          [](const Record& row) { return row.config.find("pack") == 0; });
  ASSERT_GT(same, 0);
  ASSERT_LT(same, 64);
  toy.options.session_id = "session-2";
  const Summary summary = toy.run();
  EXPECT_EQ(summary.reused, same);
  EXPECT_EQ(summary.evidence, 64 - same);
}

Record row(const Config& config, Outcome outcome, const std::string& session = "s") {
  Record record;
  record.config = config;
  record.outcome = std::move(outcome);
  record.device = "here";
  record.session = session;
  return record;
}

Outcome time_of(double us) {
  Timing timing;
  timing.time_us = us;
  return timing;
}

TEST(EarlierRuns, TriesAgainWhatFailedForAReasonThatMayPass) {
  const Candidates candidates = toy_candidates();
  std::vector<Record> rows;
  const std::vector<FailureKind> passing = {FailureKind::kTimeout, FailureKind::kCrash,
                                            FailureKind::kOutOfMemory, FailureKind::kLaunch,
                                            FailureKind::kCompileTimeout};
  const std::vector<FailureKind> lasting = {FailureKind::kCompile, FailureKind::kWrongResult,
                                            FailureKind::kRejected, FailureKind::kImplausible};
  std::int64_t columns = 1;
  for (const FailureKind kind : passing)
    rows.push_back(row(toy_config(1, columns++, 1, 0), Failure{kind, "", {}}));
  columns = 1;
  for (const FailureKind kind : lasting)
    rows.push_back(row(toy_config(2, columns++, 1, 0), Failure{kind, "", {}}));
  const EarlierRuns result = earlier_runs(rows, "here", candidates, {});
  ASSERT_EQ(result.answers.size(), lasting.size());
  for (const KnownTrial& trial : result.answers) EXPECT_EQ(trial.config.at("rows"), 2);
}

TEST(EarlierRuns, AnswersWithTheDeathOfAConfigThatHasKilledTwoWorkers) {
  const Candidates candidates = toy_candidates();
  const Config config = toy_config(4, 4, 4, 0), other = toy_config(8, 1, 1, 0);
  const Outcome hang = Failure{FailureKind::kTimeout, "ran longer than 10 s and was killed", {}};
  const EarlierRuns result = earlier_runs({row(config, time_of(5)), row(config, hang), row(other, hang),
                                           row(config, hang), row(config, time_of(4))},
                                          "here", candidates, {});
  ASSERT_EQ(result.answers.size(), 1u);
  EXPECT_FALSE(result.answers[0].time_us());
  EXPECT_EQ(result.quarantined, 1);
  EXPECT_EQ(result.deaths.at(candidates.space.point_of(config)), 2);
  EXPECT_EQ(result.deaths.at(candidates.space.point_of(other)), 1);
}

// Another machine may have been short of memory.
TEST(EarlierRuns, CountsTheDeathsThatWereSeenHereAlone) {
  const Candidates candidates = toy_candidates();
  const Config config = toy_config(4, 4, 4, 0), other = toy_config(8, 1, 1, 0);
  const Outcome hang = Failure{FailureKind::kTimeout, "ran longer than 10 s and was killed", {}};
  const EarlierRuns result = earlier_runs({row(config, hang, "theirs"), row(config, hang, "theirs"),
                                           row(config, hang, "mine"), row(other, time_of(4), "theirs")},
                                          "here", candidates, {{"theirs", "their.db"}});
  EXPECT_EQ(result.quarantined, 0);
  EXPECT_EQ(result.deaths.at(candidates.space.point_of(config)), 1);
  ASSERT_EQ(result.answers.size(), 1u) << "what was timed is an answer, whoever did it";
  EXPECT_EQ(result.answers[0].config, other);
}

TEST(EarlierRuns, KeepsTheNewestAnswerAndDropsConfigsThatTheSpaceNoLongerHas) {
  const Candidates candidates = toy_candidates();
  const Config config = toy_config(4, 4, 4, 0);
  const Config gone = toy_config(3, 4, 4, 0);
  const EarlierRuns result =
      earlier_runs({row(config, time_of(5), "a"), row(config, time_of(7), "b"), row(gone, time_of(1))},
                   "here", candidates, {});
  ASSERT_EQ(result.answers.size(), 1u);
  EXPECT_EQ(*result.answers[0].time_us(), 7);
  EXPECT_EQ(result.runs, 2);
  EXPECT_EQ(result.obsolete, 1);
  EXPECT_THAT(describe(result), HasSubstr("1 stored trial no longer fits the space"));
}

}  // namespace
}  // namespace lehr::testing
