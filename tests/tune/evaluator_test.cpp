// Tests of picks that are asked for one by one: how many before each outcome, who learns of which outcome,
// and which picks cost nothing.
#include "tune/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support.h"

namespace lehr::testing {
namespace {

/// Returns toy kernels. Those of 4 rows cannot be emitted, and packing changes nothing.
Candidates odd_candidates() {
  Candidates candidates = toy_candidates();
  const auto lower = [space = candidates.space](const Point& point) {
    Config config = space.config_of(point);
    if (config.at("rows") == 4) throw Error(ErrorKind::kInternal, "no");
    for (auto& [name, value] : config.knobs)
      if (name == "pack") value = 0;
    return toy_kernel(config);
  };
  lower_by(lower, toy_task().device.limits, candidates);
  return candidates;
}

/// The events in order: "ask", "run r c" where a config is measured, "know r c p" of a trial.
struct Diary {
  Task task = toy_task();
  Candidates candidates = odd_candidates();
  FakeClock clock;
  FakeMeasurer measurer{[this](const Source& source) {
                          const Config config = config_of(source);
                          lines.push_back(fmt::format("run {} {}", config.at("rows"), config.at("columns")));
                          return toy_outcome(source);
                        },
                        clock};
  Database database = Database::open(":memory:");
  Trials trials;
  Evaluator evaluator{candidates,
                      measurer,
                      database,
                      common_row(task, toy_options(), database),
                      trials,
                      [](const Point&, double) { return std::string(); },
                      [](const Trial&, bool) {}};
  std::vector<std::string> lines;

  std::vector<std::string> measure(const std::vector<Config>& configs, std::size_t abandon_after = 1000) {
    lines.clear();
    std::size_t asked = 0, known = 0;
    evaluator.measure(
        [&]() -> std::optional<Proposal> {
          lines.push_back("ask");
          if (asked == configs.size()) return std::nullopt;
          return Proposal{candidates.space.point_of(configs[asked++]), "test"};
        },
        [&](std::size_t at) {
          ++known;
          const Config& config = trials.all()[at].config;
          lines.push_back(
              fmt::format("know {} {} {}", config.at("rows"), config.at("columns"), config.at("pack")));
        },
        [&] { return known >= abandon_after; });
    return lines;
  }
};

using Lines = std::vector<std::string>;

TEST(Evaluator, AsksAheadAsTheMeasurerDoesAndTellsBeforeItAsks) {
  const std::vector<Config> configs = {toy_config(1, 1, 1, 0), toy_config(2, 1, 1, 0),
                                       toy_config(8, 1, 1, 0)};
  Diary diary;
  EXPECT_EQ(diary.measure(configs), (Lines{"ask", "run 1 1", "know 1 1 0", "ask", "run 2 1", "know 2 1 0",
                                           "ask", "run 8 1", "know 8 1 0", "ask"}));
  Diary by_two;
  by_two.measurer.window = 2;
  EXPECT_EQ(by_two.measure(configs), (Lines{"ask", "ask", "run 1 1", "know 1 1 0", "run 2 1", "know 2 1 0",
                                            "ask", "ask", "run 8 1", "know 8 1 0"}));
  Diary rolling;
  rolling.measurer.window = 2;
  rolling.measurer.overlap = true;
  EXPECT_EQ(rolling.measure(configs), (Lines{"ask", "ask", "run 1 1", "know 1 1 0", "ask", "run 2 1",
                                             "know 2 1 0", "ask", "run 8 1", "know 8 1 0"}));
}

TEST(Evaluator, WhatCostsNothingIsKnownAtOnceAndAnotherPickTakesItsPlace) {
  Diary diary;
  diary.measurer.window = 2;
  diary.measurer.overlap = true;
  // One cannot be emitted, and one is equal to what is being measured.
  EXPECT_EQ(diary.measure({toy_config(4, 1, 1, 0), toy_config(1, 1, 1, 0), toy_config(1, 1, 1, 1),
                           toy_config(2, 1, 1, 0)}),
            (Lines{"ask", "know 4 1 0", "ask", "ask", "ask", "run 1 1", "know 1 1 0", "know 1 1 1", "ask",
                   "run 2 1", "know 2 1 0"}));
  EXPECT_EQ(diary.trials.measured(), 3);
  EXPECT_EQ(diary.trials.all()[2].origin, Origin::kTwin);
  EXPECT_EQ(diary.trials.all()[2].time_us(), diary.trials.all()[1].time_us());
  // This one is equal to a kernel that was measured before.
  EXPECT_EQ(diary.measure({toy_config(2, 1, 1, 1)}), (Lines{"ask", "know 2 1 1", "ask"}));
}

TEST(Evaluator, GivesUpTheRestWithoutAskingForMore) {
  Diary diary;
  diary.measurer.window = 3;
  std::vector<Config> configs;
  for (const int columns : {1, 2, 4, 8}) configs.push_back(toy_config(1, columns, 1, 0));
  EXPECT_EQ(diary.measure(configs, 2),
            (Lines{"ask", "ask", "ask", "run 1 1", "know 1 1 0", "run 1 2", "know 1 2 0"}));
  EXPECT_TRUE(diary.measure(configs, 0).empty());
  EXPECT_EQ(diary.measure({toy_config(4, 1, 1, 0), toy_config(4, 2, 1, 0)}, 1), (Lines{"ask", "know 4 1 0"}));
}

}  // namespace
}  // namespace lehr::testing
