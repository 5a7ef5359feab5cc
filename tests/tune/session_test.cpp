// Tests of the session on a toy space: order, budget, failures, resume, interruption, determinism.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "support.h"

namespace lehr::testing {
namespace {

std::vector<std::string> configs_of(const std::vector<Record>& rows) {
  std::vector<std::string> texts;
  for (const Record& row : rows) texts.push_back(to_text(row.config));
  return texts;
}

TEST(Session, MeasuresTheDefaultFirst) {
  ToySession toy;
  toy.run();
  ASSERT_FALSE(toy.measurer->measured.empty());
  EXPECT_EQ(toy.measurer->measured[0], "toy_1_1_1_0");
  EXPECT_EQ(toy.rows("session-1")[0].picked_by, "default");
}

TEST(Session, StoresOneRowPerTrialAndMeasuresNoConfigTwice) {
  ToySession toy;
  const Summary summary = toy.run();
  const std::vector<Record> rows = toy.rows("session-1");
  EXPECT_EQ(summary.measured, 64);
  ASSERT_EQ(rows.size(), 64u);
  const std::vector<std::string> texts = configs_of(rows);
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 64u);
  EXPECT_EQ(toy.measurer->prepared, 1);
}

TEST(Session, GoesOnWhenItsListenerThrows) {
  ToySession toy;
  toy.listener = [&](const Event& event) {
    toy.events.push_back(event);
    if (event.kind == EventKind::kTrial) throw std::runtime_error("no terminal");
  };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.measured, 64);
  EXPECT_TRUE(summary.contested);
  EXPECT_EQ(toy.rows("session-1").size(), 64u);
  EXPECT_EQ(toy.events.back().kind, EventKind::kTrial) << "it is not told anything more";
}

TEST(Session, FindsANearOptimalConfigInAFifthOfTheSpace) {
  ToySession toy;
  toy.options.stop.trials = 80;
  const Summary summary = toy.run();
  ASSERT_TRUE(summary.best);
  EXPECT_TRUE(summary.contested);
  EXPECT_LT(summary.verdict.best.us, 18);  // the best of 384 takes 14.06
  EXPECT_NEAR(summary.verdict.speedup_vs_default.value, 1000 / summary.verdict.best.us, 1e-6);
}

TEST(Session, KeepsTheDefaultWhenNothingBeatsItByMoreThanTheNoise) {
  for (const double factor : {1.0, 0.995, 1.3}) {
    ToySession toy;
    toy.outcome_of = [factor](const Source& source) {
      Outcome outcome = toy_outcome(source);
      const bool is_default = config_of(source) == toy_config(1, 1, 1, 0);
      std::get<Timing>(outcome).time_us = is_default ? 100 : 100 * factor;
      return outcome;
    };
    const Summary summary = toy.run();
    ASSERT_TRUE(summary.best);
    EXPECT_EQ(summary.best->config, toy_config(1, 1, 1, 0)) << factor;
    EXPECT_EQ(summary.verdict.speedup_vs_default.value, 1.0) << factor;
  }
}

TEST(Session, LetsTheContestDecideAndNotTheSingleTrials) {
  ToySession toy;
  // In single trials everything looks twice as fast as the default; in the contest it is slower.
  toy.arrange = [](FakeMeasurer& measurer) {
    measurer.contest_us = [](const Source& source, int) {
      return config_of(source) == toy_config(1, 1, 1, 0) ? 100.0 : 120.0;
    };
  };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.best->config, toy_config(1, 1, 1, 0));
  EXPECT_EQ(summary.verdict.best.us, 100);
  ASSERT_EQ(toy.measurer->contested.size(), 1 + SessionOptions{}.finalists);
  EXPECT_EQ(toy.measurer->contested[0], "toy_1_1_1_0");
  const std::set<std::string> distinct(toy.measurer->contested.begin(), toy.measurer->contested.end());
  EXPECT_EQ(distinct.size(), toy.measurer->contested.size());
}

TEST(Session, DoesNotTrustALeadThatIsSmallerThanItsSpread) {
  ToySession toy;
  toy.arrange = [](FakeMeasurer& measurer) {
    measurer.contest_us = [](const Source& source, int round) {
      return config_of(source) == toy_config(1, 1, 1, 0) ? 100.0 : (round % 2 == 0 ? 80.0 : 115.0);
    };
  };
  EXPECT_EQ(toy.run().best->config, toy_config(1, 1, 1, 0));
}

TEST(Session, TellsHowSureItIsOfEachFigure) {
  ToySession toy;
  toy.options.baselines = {"vendor"};
  toy.arrange = [](FakeMeasurer& measurer) {
    measurer.contest_us = [](const Source& source, int round) {
      return toy_time_us(config_of(source)) * (1 + 0.01 * (round % 3));
    };
  };
  const Summary summary = toy.run();
  const double best_us = toy_time_us(summary.best->config);
  EXPECT_DOUBLE_EQ(summary.verdict.best.interval.low, best_us);
  EXPECT_DOUBLE_EQ(summary.verdict.best.interval.high, 1.02 * best_us);
  const double default_us = toy_time_us(summary.default_trial->config);
  EXPECT_DOUBLE_EQ(summary.verdict.default_time.interval.low, default_us);
  EXPECT_DOUBLE_EQ(summary.verdict.default_time.interval.high, 1.02 * default_us);
  // Both sides of each ratio drift together.
  EXPECT_NEAR(summary.verdict.speedup_vs_default.interval.low, summary.verdict.speedup_vs_default.value,
              1e-9);
  EXPECT_LT(summary.verdict.speedup_vs_baseline.interval.low, summary.verdict.speedup_vs_baseline.value);
  EXPECT_GT(summary.verdict.speedup_vs_baseline.interval.high, summary.verdict.speedup_vs_baseline.value);
  const nlohmann::json document = to_json(summary);
  EXPECT_EQ(document["best"]["time_us_interval"][0], summary.verdict.best.interval.low);
  EXPECT_EQ(document["baselines"][0]["speedup_interval"].size(), 2U);
}

TEST(Session, SaysWhetherTheWinnerIsDeterministic) {
  ToySession toy;
  EXPECT_EQ(toy.run().determinism, "");
  EXPECT_TRUE(toy.measurer->repeated.empty());
  toy.options.check_determinism = true;
  toy.options.reuse = false;
  const auto run = [&](std::variant<Repetition, Failure> repetition) {
    toy.arrange = [&](FakeMeasurer& measurer) { measurer.repetition = repetition; };
    return toy.run();
  };
  Summary summary = run(Repetition{64, 0, 0});
  EXPECT_EQ(summary.determinism, "the winner gave the same bits in two runs on the same input");
  EXPECT_EQ(toy.measurer->repeated.size(), 1U);
  EXPECT_EQ(to_json(summary)["deterministic"], true);
  summary = run(Repetition{64, 3, 5});
  EXPECT_EQ(summary.determinism,
            "the winner is not deterministic: 3 of 64 output elements have other bits in a second run on the "
            "same input, the first is element 5");
  EXPECT_EQ(nlohmann::json::parse(toy.database.verdicts({})[0].json)["deterministic"], false);
  summary = run(Failure{FailureKind::kCrash, "SIGSEGV\nmore", {}});
  EXPECT_EQ(summary.determinism, "whether the winner is deterministic could not be told: crash: SIGSEGV");
  EXPECT_TRUE(to_json(summary)["deterministic"].is_null());
}

TEST(Session, TimesTheFastestScheduleUnfusedBesideTheLibraries) {
  ToySession toy;
  toy.options.baselines = {"vendor", "unfused"};
  std::vector<Config> asked;
  toy.candidates.unfused = [&](const Config& config) {
    asked.push_back(config);
    return Source{};
  };
  const Summary summary = toy.run();
  ASSERT_EQ(summary.baselines.size(), 2u);
  EXPECT_EQ(summary.baselines[0].name, "unfused");
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0], summary.best->config);
  EXPECT_EQ(summary.baselines[0].note, to_text(asked[0]) + ", then a pass");
  EXPECT_EQ(summary.baselines[0].time.us, toy.measurer->challenger_us);  // no library of that name was asked
  EXPECT_EQ(summary.baselines[1].name, "vendor");
  EXPECT_NEAR(summary.baselines[0].speedup.value, toy.measurer->challenger_us / summary.verdict.best.us,
              1e-9);
}

// Behind a pool there are schedules that no convolution without one has.
TEST(Session, TimesTheNextScheduleUnfusedWhereTheFastestHasNoPair) {
  ToySession toy;
  toy.options.baselines = {"unfused"};
  std::vector<Config> asked;
  toy.candidates.unfused = [&](const Config& config) {
    asked.push_back(config);
    return asked.size() < 3 ? std::optional<Source>() : Source{};
  };
  const Summary summary = toy.run();
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(summary.baselines.at(0).note, to_text(asked[2]) + ", then a pass");
  EXPECT_GT(summary.baselines[0].time.us, 0);
  toy.candidates.unfused = [](const Config&) { return std::optional<Source>(); };
  toy.options.session_id = "session-2";
  EXPECT_EQ(toy.run().baselines.at(0).missing, "no finalist's schedule is one without the epilogue");
}

TEST(Session, HasNoUnfusedPairWithoutAnEpilogue) {
  ToySession toy;
  toy.options.baselines = {"unfused"};
  const Summary summary = toy.run();
  EXPECT_TRUE(summary.baselines.empty());
  EXPECT_EQ(summary.verdict.baseline, "");
}

TEST(Session, TimesTheBaselinesInTheFinalsAndSaysWhyOneIsMissing) {
  ToySession toy;
  toy.options.baselines = {"absent", "vendor"};
  const Summary summary = toy.run();
  ASSERT_EQ(summary.baselines.size(), 2u);
  EXPECT_EQ(summary.baselines[0].missing, "libabsent.so is not installed");
  EXPECT_EQ(summary.verdict.baseline, "vendor");
  EXPECT_NEAR(summary.verdict.speedup_vs_baseline.value, 50 / summary.verdict.best.us, 1e-9);
  EXPECT_EQ(summary.baselines[0].speedup.value, 0);
  EXPECT_EQ(summary.baselines[1].speedup.value, summary.verdict.speedup_vs_baseline.value);
  const std::vector<StoredVerdict> verdicts = toy.database.verdicts({});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].baseline, "vendor");
  EXPECT_EQ(verdicts[0].record_id, summary.best->id);
  EXPECT_EQ(nlohmann::json::parse(verdicts[0].json), to_json(summary));
}

LibraryFinding finding_of(const char* library, std::int64_t algorithm, std::int64_t tried) {
  return {library, {{.algorithm = algorithm, .mark = 77, .tried = tried, .offered = 16}}};
}

TEST(Session, KeepsWhatLibrariesFoundForTheNextSession) {
  ToySession toy;
  toy.with_model = false;
  toy.options.stop.trials = 4;
  toy.options.baselines = {"vendor", "other"};
  toy.options.stop.time_s = 20;
  toy.options.stop.cut_searches = true;
  LibraryFinding found = finding_of("Vendor 1.0", 2, 3);
  toy.arrange = [&](FakeMeasurer& measurer) {
    measurer.findings = {{"vendor", found}};
    measurer.overheads = {{"vendor", 1.5}};
  };
  const Summary first = toy.run();
  ASSERT_EQ(toy.measurer->searches.size(), 2U);
  EXPECT_TRUE(toy.measurer->searches.at("vendor").known.empty());
  EXPECT_DOUBLE_EQ(toy.measurer->searches.at("vendor").seconds, 1);
  EXPECT_EQ(first.baselines[0].algorithms_tried, 3);
  EXPECT_EQ(first.baselines[0].algorithms, 16);
  EXPECT_EQ(first.baselines[1].algorithms, 0);
  const nlohmann::json document = to_json(first);
  EXPECT_EQ(document["baselines"][0]["algorithms_tried"], 3);
  EXPECT_EQ(document["baselines"][0]["algorithms"], 16);
  EXPECT_TRUE(document["baselines"][1]["algorithms"].is_null());
  EXPECT_EQ(document["baselines"][0]["overhead_us"], 1.5);
  EXPECT_TRUE(document["baselines"][1]["overhead_us"].is_null());
  ASSERT_EQ(first.verdict.baseline, "vendor");
  EXPECT_EQ(toy.database.verdicts({})[0].algorithms_tried, 3);
  EXPECT_EQ(toy.database.verdicts({})[0].algorithms, 16);
  // The session continues, and keeps what is new; of another version, too.
  toy.options.session_id = "session-2";
  toy.options.stop.time_s = 0;
  found = finding_of("Vendor 1.0", 9, 16);
  toy.run();
  EXPECT_EQ(toy.measurer->searches.at("vendor").known, std::vector{finding_of("Vendor 1.0", 2, 3)});
  EXPECT_TRUE(toy.measurer->searches.at("other").known.empty());
  EXPECT_DOUBLE_EQ(toy.measurer->searches.at("vendor").seconds, 0);
  toy.options.session_id = "session-3";
  found = finding_of("Vendor 2.0", 4, 16);
  toy.run();
  EXPECT_EQ(toy.measurer->searches.at("vendor").known, std::vector{finding_of("Vendor 1.0", 9, 16)});
  toy.options.session_id = "session-4";
  toy.run();
  const std::vector both = {finding_of("Vendor 1.0", 9, 16), finding_of("Vendor 2.0", 4, 16)};
  EXPECT_EQ(toy.measurer->searches.at("vendor").known, both);
  EXPECT_EQ(toy.database.stats().algorithms, 3) << "what is known is not written again";
  toy.options.session_id = "session-5";
  toy.options.reuse = false;
  toy.run();
  EXPECT_TRUE(toy.measurer->searches.at("vendor").known.empty());
}

TEST(Session, HasNoRowOfALibraryWithoutACallForTheOperator) {
  ToySession toy;
  toy.with_model = false;
  toy.options.stop.trials = 4;
  toy.options.baselines = {"cudnn", "cudnn-best", "absent"};
  const Summary summary = toy.run();
  ASSERT_EQ(summary.baselines.size(), 1u);
  EXPECT_EQ(summary.baselines[0].name, "absent");
}

TEST(Session, StoresFailuresByKindAndGoesOn) {
  ToySession toy;
  toy.outcome_of = [](const Source& source) -> Outcome {
    const Config config = config_of(source);
    if (config.at("unroll") == 8) return Failure{FailureKind::kCompile, "error: too much\nmore", {}};
    if (config.at("columns") == 7) return Failure{FailureKind::kTimeout, "ran longer than 1 s", {}};
    if (config.at("columns") == 5) return Failure{FailureKind::kWrongResult, "c[3] is 1, expected 2", {}};
    return toy_outcome(source);
  };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.measured, 64);
  int failed = 0;
  std::map<FailureKind, int> stored;
  for (const auto& [kind, count] : summary.failed) failed += count;
  for (const Record& row : toy.rows("session-1")) {
    if (const auto* failure = std::get_if<Failure>(&row.outcome)) ++stored[failure->kind];
  }
  EXPECT_GT(failed, 0);
  EXPECT_EQ(summary.timed + failed, 64);
  EXPECT_EQ(stored, summary.failed);
  ASSERT_TRUE(summary.best);
  EXPECT_NE(summary.best->config.at("unroll"), 8);
}

TEST(Session, StoresACandidateThatTheTemplateCannotLowerAsAFailure) {
  ToySession toy;
  const auto lower = [space = toy.candidates.space](const Point& point) {
    const Config config = space.config_of(point);
    if (config.at("pack") == 1) throw Error(ErrorKind::kInternal, "no packing here");
    return toy_kernel(config);
  };
  lower_by(lower, toy.task.device.limits, toy.candidates);
  const Summary summary = toy.run();
  ASSERT_TRUE(summary.best);
  EXPECT_EQ(summary.best->config.at("pack"), 0);
  for (const Record& row : toy.rows("session-1")) {
    const auto* failure = std::get_if<Failure>(&row.outcome);
    EXPECT_EQ(failure != nullptr, row.config.at("pack") == 1);
    if (failure) {
      EXPECT_THAT(failure->text, ::testing::HasSubstr("no packing here"));
    }
  }
}

TEST(Session, UsesAnotherDefaultWhenTheFirstFails) {
  ToySession toy;
  toy.candidates.defaults.push_back(toy.candidates.space.point_of(toy_config(2, 2, 1, 0)));
  toy.outcome_of = [](const Source& source) -> Outcome {
    if (config_of(source) == toy_config(1, 1, 1, 0)) return Failure{FailureKind::kCrash, "signal 11", {}};
    return toy_outcome(source);
  };
  const Summary summary = toy.run();
  ASSERT_TRUE(summary.default_trial);
  EXPECT_EQ(summary.default_trial->config, toy_config(2, 2, 1, 0));
}

TEST(Session, EndsWithAReasonWhenEverythingFails) {
  ToySession toy;
  toy.options.stop.trials = 0;
  toy.options.stop.failing_trials = 40;
  toy.outcome_of = [](const Source&) -> Outcome { return Failure{FailureKind::kLaunch, "no device", {}}; };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.stop, StopReason::kFailing);
  EXPECT_EQ(summary.measured, 40);
  EXPECT_FALSE(summary.best);
  EXPECT_EQ(summary.first_failure, "launch: no device");
  EXPECT_TRUE(toy.database.verdicts({}).empty());
  EXPECT_TRUE(to_json(summary)["best"].is_null());
}

TEST(Session, StopsWhenTheSpaceIsExhausted) {
  ToySession toy;
  toy.candidates = tiny_candidates();
  toy.options.stop.trials = 0;
  toy.outcome_of = [](const Source& source) -> Outcome {
    return Timing{.time_us = static_cast<double>(source.text.size()),
                  .samples_us = {},
                  .spread = 0,
                  .reference_us = 0,
                  .max_error = 0,
                  .run_s = 0,
                  .resources = {}};
  };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.stop, StopReason::kExhausted);
  EXPECT_EQ(summary.measured, 4);
}

void expect_parts_to_add_up(const Elapsed& elapsed) {
  const Elapsed::Parts& p = elapsed.parts;
  EXPECT_NEAR(elapsed.total_s, p.setup_s + p.hints_s + p.proposals_s + p.compile_s + p.trials_s + p.finals_s,
              1e-9);
  for (const double part : {p.setup_s, p.hints_s, p.proposals_s, p.compile_s, p.trials_s, p.finals_s})
    EXPECT_GE(part, -1e-9);
}

/// Sets a time limit, and how long the default's trial and the others' take.
void slow_down(ToySession& toy, double first_s, double others_s, double limit_s) {
  toy.options.stop = {.trials = 0, .time_s = limit_s};
  toy.arrange = [=](FakeMeasurer& measurer) {
    measurer.prepare_s = 0.2;
    measurer.seconds_of = [=](const Source& source) {
      return config_of(source) == toy_config(1, 1, 1, 0) ? first_s : others_s;
    };
  };
}

TEST(Session, EndsWithItsDefaultWhereThatTakesLongerThanTheLimit) {
  ToySession toy;
  slow_down(toy, 9, 9, 1);
  toy.options.before_s = 0.3;
  const Summary summary = toy.run();
  EXPECT_EQ(summary.measured, 1);
  EXPECT_LT(toy.measurer->left[0].wanted_s, 0.3);      // it is timed as briefly as can be, ...
  EXPECT_EQ(toy.measurer->left[0].most_s, kNoLimitS);  // ... but timed
  EXPECT_TRUE(toy.measurer->contested.empty());
  EXPECT_EQ(toy.measurer->prepared, 1);
  EXPECT_FALSE(summary.contested);
  ASSERT_TRUE(summary.best);
  EXPECT_TRUE(toy.database.verdicts({}).empty());
  EXPECT_NEAR(summary.elapsed.total_s, 9.5, 1e-9);
  expect_parts_to_add_up(summary.elapsed);
  EXPECT_NEAR(summary.elapsed.setup_s, 0.5, 1e-9);
  EXPECT_EQ(
      summary.stop_text,
      "the limit of 1 s was reached: set-up took 0.5 s, and the default alone 9.0 s (to compile, check and "
      "time it; one call takes 0.001 s)");
}

TEST(Session, EndsWithinATenthOfItsLimitHoweverLongATrialTakes) {
  for (const double limit_s : {1.0, 10.0, 60.0})
    for (const double others_s : {0.1, 0.7, 4.0, 100.0}) {
      ToySession toy;
      slow_down(toy, 0.3, others_s, limit_s);
      toy.options.strategy = "random";
      toy.with_model = false;
      const Summary summary = toy.run();
      EXPECT_EQ(summary.stop == StopReason::kTime || summary.stop == StopReason::kExhausted, true);
      EXPECT_LE(summary.elapsed.total_s, 1.1 * limit_s) << limit_s << " " << others_s;
      expect_parts_to_add_up(summary.elapsed);
      EXPECT_LE(summary.elapsed.parts.finals_s, 0.25 * limit_s + 1e-9) << limit_s << " " << others_s;
      for (const Record& row : toy.rows("session-1"))
        if (const auto* failure = std::get_if<Failure>(&row.outcome)) {
          EXPECT_NE(failure->kind, FailureKind::kInterrupted);  // an ended compilation counts as never begun
        }
    }
}

// A kernel with 512 unrolled taps once compiled for 30 s of a budget of 5 s, and the finals had nothing.
TEST(Session, EndsACompilationWhenTheFinalsAreDue) {
  ToySession toy;
  slow_down(toy, 0.3, 0.1, 5);
  toy.options.strategy = "random";
  toy.with_model = false;
  toy.arrange = [](FakeMeasurer& measurer) {
    measurer.only_compiles = true;
    measurer.seconds_of = [&measurer](const Source&) { return measurer.measured.size() < 8 ? 0.1 : 30.0; };
  };
  const Summary summary = toy.run();
  EXPECT_LE(summary.elapsed.total_s, 5);
  EXPECT_TRUE(summary.contested);
  EXPECT_GE(summary.elapsed.parts.finals_s, 1);
  EXPECT_EQ(toy.rows("session-1").size(), 8u) << "what was ended is as if it had never begun";
  EXPECT_EQ(toy.measurer->left[0].compile_s, kNoLimitS) << "the default has to run";
  EXPECT_NEAR(toy.measurer->left[3].compile_s, toy.measurer->left[3].wanted_s, 1e-9);
}

TEST(Session, SaysThatItsDefaultTookLongerThanTheLimitWhereThatFailed) {
  ToySession toy;
  slow_down(toy, 30, 30, 5);
  toy.outcome_of = [](const Source&) -> Outcome { return Failure{FailureKind::kCompileTimeout, "slow", {}}; };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.measured, 1);
  EXPECT_EQ(
      summary.stop_text,
      "the limit of 5 s was reached: set-up took 0.2 s, and the default alone 30.0 s (to compile, check "
      "and time it)");
}

TEST(Session, TellsTheMeasurerHowMuchTimeIsLeft) {
  ToySession toy;
  slow_down(toy, 0.3, 0.1, 10);
  const Summary summary = toy.run();
  const std::vector<TimeLeft>& left = toy.measurer->left;
  ASSERT_GT(left.size(), 3u);
  for (std::size_t i = 1; i < left.size(); ++i) EXPECT_NEAR(left[i].most_s, left[i].wanted_s + 2, 1e-9);
  EXPECT_LE(toy.measurer->last_budget_s, toy.measurer->last_most_s);
  EXPECT_LE(toy.measurer->last_most_s, 2.5);
  toy.options.stop = {.trials = 20};
  toy.options.session_id = "session-2";
  toy.run();
  EXPECT_GT(toy.measurer->left.back().wanted_s, 0.9 * kNoLimitS);
  EXPECT_EQ(toy.measurer->last_most_s, kNoLimitS);
}

TEST(Session, GivesNoVerdictWhereTheContestHadNotEnoughTime) {
  ToySession toy;
  toy.arrange = [](FakeMeasurer& measurer) { measurer.finishes = false; };
  const Summary summary = toy.run();
  EXPECT_FALSE(toy.measurer->contested.empty());
  EXPECT_FALSE(summary.contested);
  EXPECT_TRUE(summary.best);
  EXPECT_EQ(summary.unproven, "");
  EXPECT_TRUE(toy.database.verdicts({}).empty());
}

// Kernels 1.15 to 3.4 times as fast were once measured and not reported, because the default was proven
// first.
TEST(Session, TellsTheFastestAsProvisionalWhereThereIsNoTimeToProveIt) {
  ToySession toy;
  toy.options.stop = {.trials = 0, .time_s = 4};
  toy.options.baselines = {"vendor"};
  toy.arrange = [](FakeMeasurer& measurer) { measurer.swap_s = 5; };
  const Summary summary = toy.run();
  EXPECT_TRUE(summary.contested);
  ASSERT_TRUE(summary.best);
  EXPECT_LT(summary.verdict.best.us, 100);
  EXPECT_TRUE(summary.verdict.provisional);
  EXPECT_GT(summary.verdict.speedup_vs_default.value, 10) << "the default keeps its ratio";
  EXPECT_EQ(summary.baselines.at(0).time.us, 50);
  EXPECT_TRUE(toy.measurer->proven.empty());
  EXPECT_EQ(summary.unproven, "");
  const std::vector<StoredVerdict> verdicts = toy.database.verdicts({});
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_TRUE(verdicts[0].provisional);
  EXPECT_EQ(to_json(summary)["provisional"], true);
  EXPECT_LE(summary.elapsed.total_s, 4.4);
}

TEST(Session, KeepsMoreThanItsShareForProofsThatNeedIt) {
  ToySession toy;
  toy.options.stop = {.trials = 0, .time_s = 10};
  toy.arrange = [](FakeMeasurer& measurer) { measurer.swap_s = 1.5; };
  const Summary summary = toy.run();
  EXPECT_TRUE(summary.contested);
  EXPECT_FALSE(summary.verdict.provisional);
  EXPECT_LE(summary.elapsed.total_s, 11);
  const std::string winner = toy.measurer->proven.at(0);
  EXPECT_EQ(toy.measurer->proven.at(1), "toy_1_1_1_0 other") << "the default comes second";
  EXPECT_NE(winner, "toy_1_1_1_0 other");
  EXPECT_EQ(std::ranges::count(toy.measurer->proven, "toy_1_1_1_0 own"), 1);
}

TEST(Session, ASearchThatEndsEarlyLeavesItsTimeToTheFinals) {
  ToySession toy;
  toy.options.stop = {.trials = 10, .time_s = 100};
  toy.run();
  EXPECT_GT(toy.measurer->last_most_s, 90);
  EXPECT_LT(toy.measurer->last_budget_s, 20) << "what is there need not be spent";
}

TEST(Session, TellsWhatBecameOfEachFinalist) {
  ToySession toy;
  const Summary summary = toy.run();
  ASSERT_EQ(summary.finalists.size(), toy.measurer->contested.size());
  EXPECT_EQ(summary.finalists[0].config, to_text(toy_config(1, 1, 1, 0)));
  EXPECT_EQ(summary.finalists[0].proof, ProofState::kProven);
  const nlohmann::json document = to_json(summary)["finalists"];
  int proven = 0;
  for (const nlohmann::json& one : document) {
    EXPECT_EQ(one["rounds"], 9);
    EXPECT_GT(one["time_us"], 0);
    EXPECT_GT(one["shown_us"], 0);
    proven += one["proof"] == "proven" ? 1 : 0;
  }
  EXPECT_EQ(proven, 2);
  EXPECT_NEAR(summary.shown_us, summary.verdict.best.us, 1e-9);
}

TEST(Session, TheNextOneIsToldWhereTheFastestFailsItsProof) {
  ToySession toy;
  std::string first;
  toy.arrange = [&first](FakeMeasurer& measurer) {
    measurer.proof_failure = [&first](const std::string& entry, Inputs inputs) -> std::optional<Failure> {
      if (first.empty()) first = entry;
      if (entry != first || inputs == Inputs::kOther) return std::nullopt;
      return Failure{FailureKind::kWrongResult, "right before, but wrong in call 9", {}};
    };
  };
  const Summary summary = toy.run();
  ASSERT_TRUE(summary.best);
  EXPECT_FALSE(summary.verdict.provisional);
  EXPECT_NE("toy_1_1_1_0", first);
  const auto failed = std::ranges::find(summary.finalists, ProofState::kFailed, &FinalistReport::proof);
  ASSERT_NE(failed, summary.finalists.end());
  EXPECT_NE(to_text(summary.best->config), failed->config);
  EXPECT_THAT(failed->missing, ::testing::HasSubstr("wrong in call 9"));
  EXPECT_EQ(toy.rows("session-1").back().picked_by, kPickedForFinals);
}

// The reference kernel's first window is more than 10 % off its later ones in one session of five.
TEST(Session, ShowsTimesInUnitsOfWhatTheReferenceUsuallyTakes) {
  ToySession toy;
  toy.outcome_of = [](const Source& source) {
    const bool is_default = config_of(source) == toy_config(1, 1, 1, 0);
    Timing timing;
    timing.samples_us = {is_default ? 1500.0 : 500.0, 510, 520};
    timing.time_us = timing.samples_us[0];
    timing.reference_us = is_default ? 0 : 1000;
    return timing;
  };
  toy.arrange = [](FakeMeasurer& measurer) { measurer.usual_us = 1000; };
  toy.run();
  const Event& last = toy.events.back();
  EXPECT_EQ(last.default_us, 1000);
  EXPECT_NEAR(last.best.us, 502.5, 5);
  for (const Event& event : toy.events)
    EXPECT_TRUE(event.best.us == 0 || event.best.us >= 500) << "no sample was faster";
}

TEST(Session, KeepsATimeLimitIncludingTheFinals) {
  for (const double limit : {2.0, 10.0}) {
    ToySession toy;
    toy.options.stop = {.trials = 0, .time_s = limit};
    const Summary summary = toy.run();
    EXPECT_EQ(summary.stop, StopReason::kTime) << limit;
    EXPECT_TRUE(summary.contested) << limit;
    EXPECT_LE(summary.elapsed.total_s, limit + 0.3) << limit;
    EXPECT_GT(summary.elapsed.total_s, 0.9 * limit) << limit;
    EXPECT_GT(toy.measurer->last_budget_s, 0.1 * limit) << limit;
    const Elapsed& e = summary.elapsed;
    EXPECT_NEAR(e.total_s, e.setup_s + e.search_s + e.compile_s + e.run_s, 1e-9) << limit;
    expect_parts_to_add_up(e);
    EXPECT_NEAR(to_json(summary)["elapsed_s"]["phases"]["finals"], e.parts.finals_s, 1e-9);
    // The fake measurer compiles for half of each trial's 50 ms; the contest recompiles its sources at no
    // cost.
    EXPECT_NEAR(e.compile_s, 0.025 * summary.measured, 1e-9) << limit;
    EXPECT_NEAR(summary.compiling_s, 0.05 * summary.measured, 1e-9) << limit;
    EXPECT_NEAR(device_idle_s(e), e.total_s - e.setup_s - e.run_s, 1e-9) << limit;
    EXPECT_EQ(summary.kernels, summary.measured + static_cast<int>(toy.measurer->contested.size())) << limit;
  }
}

TEST(Session, StopsAtAPlateauOnlyWhenTheModelExpectsNothing) {
  ToySession toy;
  toy.options.stop = {.trials = 0, .time_s = 0, .plateau_trials = 48};
  const Summary summary = toy.run();
  EXPECT_EQ(summary.stop, StopReason::kPlateau);
  EXPECT_LT(summary.measured, 384);
  EXPECT_LT(summary.verdict.best.us, 18);
}

TEST(Session, LeavesEveryRowAndTheBestSoFarWhenInterrupted) {
  ToySession toy;
  toy.options.stop.trials = 300;
  toy.arrange = [&toy](FakeMeasurer& measurer) {
    measurer.before_trial = [&toy](int trial) {
      if (trial == 30) toy.interrupted = true;
    };
  };
  const Summary summary = toy.run();
  EXPECT_EQ(summary.stop, StopReason::kInterrupted);
  EXPECT_EQ(summary.measured, 31);  // the running candidate ends, and the rest of its batch is not measured
  EXPECT_EQ(toy.rows("session-1").size(), 31u);
  EXPECT_TRUE(toy.measurer->contested.empty());
  EXPECT_FALSE(summary.contested);
  ASSERT_TRUE(summary.best);
  EXPECT_GT(summary.verdict.speedup_vs_default.value, 1);
  EXPECT_EQ(to_json(summary)["stop_reason"], "interrupted");
}

TEST(Session, ReturnsWithoutAResultWhenInterruptedBeforeTheFirstTrial) {
  ToySession toy;
  toy.interrupted = true;
  const Summary summary = toy.run();
  EXPECT_EQ(summary.stop, StopReason::kInterrupted);
  EXPECT_EQ(summary.measured, 0);
  EXPECT_FALSE(summary.best);
}

TEST(Session, IsDeterministicBySeed) {
  const auto picks = [](std::uint64_t seed, const std::string& strategy) {
    ToySession toy;
    toy.options.seed = seed;
    toy.options.strategy = strategy;
    toy.run();
    return configs_of(toy.rows("session-1"));
  };
  for (const std::string strategy : {"anneal", "random"}) {
    EXPECT_EQ(picks(7, strategy), picks(7, strategy)) << strategy;
    EXPECT_NE(picks(7, strategy), picks(8, strategy)) << strategy;
  }
}

TEST(Session, StoresWhoPickedEachTrialAndWhenItBegan) {
  const std::int64_t before = now_unix_ms();
  ToySession toy;
  const std::int64_t after = now_unix_ms();
  toy.options.stop.trials = 100;
  toy.run();
  std::set<std::string> pickers;
  std::set<std::int64_t> begun;
  for (const Record& row : toy.rows("session-1")) {
    pickers.insert(row.picked_by);
    begun.insert(row.session_began_unix_ms);
    EXPECT_LE(row.session_began_unix_ms, row.created_unix_ms);
  }
  EXPECT_THAT(pickers, ::testing::IsSupersetOf({"default", "blind", "trees", "process"}));
  ASSERT_EQ(begun.size(), 1U);
  EXPECT_GE(*begun.begin(), before);
  EXPECT_LE(*begun.begin(), after);
}

TEST(Session, WorksWithEveryStrategyWithAndWithoutAModel) {
  for (const std::string& strategy : strategy_names()) {
    for (const bool with_model : {false, true}) {
      ToySession toy;
      toy.options.strategy = strategy;
      toy.options.stop.trials = 40;
      toy.with_model = with_model;
      const Summary summary = toy.run();
      EXPECT_EQ(summary.measured, 40) << strategy;
      EXPECT_EQ(summary.fits > 0, with_model && strategy != "autotvm") << strategy;  // it fits after 64
      EXPECT_THAT(toy.rows("session-1").back().picked_by,
                  strategy == "anneal"
                      ? ::testing::Matcher<std::string>(::testing::AnyOf("trees", "process", "blind"))
                      : ::testing::Matcher<std::string>(strategy));
    }
  }
}

TEST(Session, ReportsTheDefaultTheNewBestsAndTheFinals) {
  ToySession toy;
  toy.run();
  int bests = 0, trials = 0;
  double last_best = 1e18;
  for (const Event& event : toy.events) {
    trials += event.kind == EventKind::kTrial || event.kind == EventKind::kNewBest;
    if (event.kind != EventKind::kNewBest) continue;
    ++bests;
    EXPECT_LT(event.best.us, last_best);
    EXPECT_EQ(event.default_us, 1000);
    last_best = event.best.us;
  }
  EXPECT_EQ(toy.events.front().kind, EventKind::kSetup);
  EXPECT_EQ(toy.events.back().kind, EventKind::kFinals);
  EXPECT_EQ(trials, 64);
  EXPECT_GT(bests, 2);
}

}  // namespace
}  // namespace lehr::testing
