// Tests a session over kernels that no template makes, for a problem that no workload of ours describes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "tune/known_best.h"

namespace lehr::testing {
namespace {

constexpr std::int64_t kFastest = 4;

/// Returns six ways to add two vectors, with a source and a row that are written by hand.
Candidates six_additions() {
  FamilySpace family("add");
  family.add("unroll", "elements of an iteration", {1, 2, 3, 4, 5, 6});
  std::vector<FamilySpace> families;
  families.push_back(std::move(family));
  Candidates candidates = {.space = Space(std::move(families))};
  candidates.defaults = {candidates.space.point_of({.family = "add", .knobs = {{"unroll", 1}}})};
  const auto unroll_of = [space = candidates.space](const Point& point) {
    return space.config_of(point).at("unroll");
  };
  candidates.source_of = [unroll_of](const Point& point) {
    Source source;
    source.entry = fmt::format("add_{}", unroll_of(point));
    source.text = fmt::format("extern \"C\" void {}(void* const*, void*, long) {{}}", source.entry);
    return source;
  };
  candidates.row_of = [unroll_of](const Point& point, std::span<float> row) {
    row[0] = static_cast<float>(unroll_of(point));
    return true;
  };
  candidates.columns = 1;
  candidates.version_of = [](std::string_view) { return 1; };
  return candidates;
}

struct ForeignSession {
  Task task;
  Candidates candidates = six_additions();
  Database database = Database::open(":memory:");
  FakeClock clock;
  OpenDevice device;
  FakeMeasurer* measurer = nullptr;  ///< of the last run

  ForeignSession() {
    task.device = toy_task().device;
    task.problem.text = "add n=64";
  }
  Summary run(const std::string& id, const std::string& strategy = "anneal") {
    measurer = &fake(device, outcome_of, clock);
    SessionOptions options = toy_options();
    options.strategy = strategy;
    options.session_id = id;
    options.baselines = {"openblas", "unfused"};
    options.now_s = [this] { return clock.now_s; };
    return Session(task, candidates, device, {database}, options).run();
  }
  static Outcome outcome_of(const Source& source) {
    const double away = std::abs(static_cast<double>(source.entry.back() - '0' - kFastest));
    Timing timing;
    timing.time_us = 10 + 5 * away;
    timing.samples_us = {timing.time_us, timing.time_us};
    return timing;
  }
};

TEST(ForeignSession, FindsTheFastestAndGivesAVerdict) {
  for (const std::string strategy : {"anneal", "random", "autotvm"}) {
    ForeignSession foreign;
    const Summary summary = foreign.run("session-1", strategy);
    EXPECT_EQ(summary.stop, StopReason::kExhausted);
    EXPECT_EQ(summary.measured, 6);
    ASSERT_TRUE(summary.best);
    EXPECT_EQ(summary.best->config.at("unroll"), kFastest);
    EXPECT_TRUE(summary.contested);
    EXPECT_EQ(summary.verdict.speedup_vs_default.value, 2.5);
    const std::optional<StoredVerdict> verdict =
        standing_verdict(foreign.task, foreign.candidates, foreign.database);
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->workload, "add n=64");
  }
}

TEST(ForeignSession, TakesItsEarlierRowsForAnswers) {
  ForeignSession foreign;
  foreign.run("session-1");
  const Summary again = foreign.run("session-2");
  EXPECT_EQ(again.reused, 6);
  EXPECT_EQ(again.resume_text, "reused 6 trials of 1 earlier run");
  EXPECT_EQ(foreign.measurer->measured.front(), "add_1");
  EXPECT_EQ(again.best->config.at("unroll"), kFastest);
  EXPECT_TRUE(again.contested);
}

TEST(ForeignSession, IsToldNeitherRooflineNorLibrariesNorHints) {
  ForeignSession foreign;
  foreign.run("session-1");
  foreign.task.device.name = "Another";
  const Summary summary = foreign.run("session-2");
  EXPECT_EQ(summary.evidence, 0);
  EXPECT_EQ(summary.roofline_fraction, std::nullopt);
  EXPECT_EQ(summary.peaks.gflops, 0);
  EXPECT_TRUE(summary.baselines.empty());
  EXPECT_TRUE(summary.failed.empty()) << "no time is implausible";
}

}  // namespace
}  // namespace lehr::testing
