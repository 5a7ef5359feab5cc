// Tests of what an engine's report proves of a rewritten network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apply/engine_trial.h"

namespace lehr::testing {
namespace {

using onnxruntime::TrialReport;
using ::testing::HasSubstr;

TrialReport report_of(const std::vector<std::string>& failures) {
  TrialReport report;
  report.version = "1.2.3";
  report.compared = true;
  for (const std::string& failure : failures) report.models.emplace_back().failure = failure;
  return report;
}

TEST(Verdicts, ProveAnEqualNetworkRightWithItsTimes) {
  TrialReport report = report_of({"", ""});
  report.models[0].turn_us = {30, 20, 40};
  report.models[1].turn_us = {15, 10, 20};
  report.models[1].worst = 1e-7;
  const EngineVerdict verdict = verdict_of(report);
  EXPECT_EQ(verdict.proof, Proof::kRight);
  EXPECT_EQ(verdict.failure, "");
  EXPECT_EQ(verdict.engine, "1.2.3");
  EXPECT_EQ(verdict.original_us, 30);
  EXPECT_EQ(verdict.rewritten_us, 15);
  EXPECT_EQ(verdict.speedup.value, 2);
  EXPECT_EQ(verdict.speedup.interval, (Interval{2, 2}));
  EXPECT_EQ(verdict.worst, 1e-7);
}

// A neighbour slowed the original down in one turn, the other network in another, and both in four. A median
// of each network by itself would mix different turns.
TEST(Verdicts, TellTimesOfTheTurnsThatTheRatioIsOf) {
  TrialReport report = report_of({"", ""});
  report.models[0].turn_us = {46, 39, 26, 39, 32.5, 26, 26, 39, 26};
  report.models[1].turn_us = {20, 30, 20, 30, 25, 20, 20, 30, 40};
  const EngineVerdict verdict = verdict_of(report);
  EXPECT_EQ(verdict.speedup.value, verdict.original_us / verdict.rewritten_us);
  EXPECT_GE(verdict.speedup.value, verdict.speedup.interval.low);
  EXPECT_LE(verdict.speedup.value, verdict.speedup.interval.high);
  EXPECT_NEAR(verdict.speedup.value, 1.3, 1e-9);
  EXPECT_NEAR(verdict.speedup.interval.high, 1.3, 1e-9);
}

TEST(Verdicts, SayWhyNothingIsProved) {
  TrialReport none, died = report_of({}), uncompared = report_of({"", ""});
  none.failure = died.failure = "it is gone";
  died.died = true;
  uncompared.compared = false;
  uncompared.blind = {{"y", "it is text"}};
  for (const auto& [report, proof, failure] :
       {std::tuple(none, Proof::kNone, "it is gone"), std::tuple(died, Proof::kWrong, "it is gone"),
        std::tuple(report_of({"no memory", ""}), Proof::kOpen, "the original does not run: no memory"),
        std::tuple(uncompared, Proof::kOpen, "nothing was compared: 'y': it is text"),
        std::tuple(report_of({"", "'y' differs"}), Proof::kWrong, "'y' differs"),
        std::tuple(report_of({"", "", "'z' differs"}), Proof::kWrong, "'z' differs")}) {
    const EngineVerdict verdict = verdict_of(report);
    EXPECT_EQ(verdict.proof, proof) << failure;
    EXPECT_EQ(verdict.failure, failure);
    EXPECT_EQ(verdict.original_us, 0);
  }
}

}  // namespace
}  // namespace lehr::testing
