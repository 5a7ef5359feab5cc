// Tests of the table of `lehr tune`: what it says of the roofline, and of searches that were cut.
#include "api/tune_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string report_of(std::optional<double> share) {
  Summary summary;
  summary.workload = "gemm m=512 n=512 k=512";
  summary.roofline_fraction = share;
  summary.peaks = {230.4, 21.2};
  Device device;
  device.name = "Some CPU";
  device.limits.peak_gflops_f32 = 100;  // the probe at the start met a busy machine
  return report_text(summary, device, "lehr.db");
}

TEST(TuneReport, PrintsTheShareOfTheSessionsPeaks) {
  EXPECT_THAT(report_of(0.874),
              HasSubstr("roofline  87 % of what the device can do (230 GFLOP/s, 21 GB/s)\ntrials "));
  EXPECT_THAT(report_of(1),
              HasSubstr("roofline  100 % of what the device can do (230 GFLOP/s, 21 GB/s)\ntrials "));
  EXPECT_THAT(report_of(std::nullopt), Not(HasSubstr("roofline")));
}

TEST(TuneReport, SaysWhereTheShareIsOfTensorCores) {
  Summary summary;
  summary.roofline_fraction = 0.723;
  summary.peaks = {989000, 4800, kTensorCores};
  EXPECT_THAT(
      report_text(summary, Device{}, "lehr.db"),
      HasSubstr("roofline  72 % of what the device can do (989000 GFLOP/s on tensor cores, 4800 GB/s)\n"));
}

TEST(TuneReport, SaysInWordsWhyWinogradIsAboveAHundredPercent) {
  EXPECT_THAT(report_of(1.96),
              HasSubstr("roofline  196 % of what the device can do (230 GFLOP/s, 21 GB/s)\n"
                        "          more than 100 %: Winograd's algorithm does fewer operations "
                        "than the direct sum that is counted\n"));
}

// 63 of 74 trials once had no calm window, and nothing said what that means.
TEST(TuneReport, SaysWhatToDoWhereTheMachineIsBusy) {
  Summary summary;
  summary.timed = 74;
  summary.retimed = 200;
  summary.disturbed = 63;
  EXPECT_THAT(report_text(summary, Device{}, "lehr.db"),
              HasSubstr("\nbusy      the machine was busy while 63 of 74 trials were timed"));
  summary.disturbed = 37;
  EXPECT_THAT(report_text(summary, Device{}, "lehr.db"), Not(HasSubstr("busy")));
  RangeSummary range;
  range.timed = 10;
  range.disturbed = 6;
  EXPECT_THAT(report_text(range, Device{}, "lehr.db"), HasSubstr("6 of 10 trials"));
}

TEST(TuneReport, ListsRangesOfRowsWithOtherWorkloads) {
  Summary one;
  one.workload = "gemm m=8 n=8 k=8";
  RangeSummary range, missing;
  range.workload = "gemm m=1..3 n=8 k=8";
  missing.workload = "gemm m=1..5 n=8 k=8";
  range.flops = 1e6;
  range.measured = 12;
  Timing timing;
  timing.time_us = 50;
  range.record.emplace();
  range.record->outcome = timing;
  const std::string text = overview_text({range, one, missing});
  const std::size_t first = text.find("gemm m=1..3 n=8 k=8 "), second = text.find(one.workload);
  EXPECT_LT(first, second);
  EXPECT_LT(second, text.find(missing.workload));
  EXPECT_THAT(text.substr(first, second - first), HasSubstr("-  50.00 us +-0.0 %     20.0"));
  EXPECT_THAT(text, HasSubstr("that of the most rows"));
  EXPECT_THAT(overview_text({one}), Not(HasSubstr("most rows")));
}

Summary contested(const char* best, bool provisional) {
  Summary summary;
  summary.contested = true;
  summary.best = summary.default_trial = Trial();
  summary.default_trial->config.family = "default";
  summary.best->config.family = best;
  summary.verdict.best = {90, {89, 91}};
  summary.verdict.default_time = {100, {99, 101}};
  summary.verdict.speedup_vs_default = {1.11, {1.1, 1.12}};
  summary.verdict.provisional = provisional;
  summary.shown_us = 81;
  return summary;
}

TEST(TuneReport, CallsAWinnerThatWasNotProvenWhatItIs) {
  const std::string text = report_text(contested("other", true), Device(), "lehr.db");
  EXPECT_THAT(text, HasSubstr("\nprovisional "));
  EXPECT_THAT(text, Not(HasSubstr("\nbest ")));
  EXPECT_THAT(text,
              HasSubstr("provisional: there was no time to prove it in many calls and on other inputs"));
  EXPECT_THAT(report_text(contested("other", false), Device(), "lehr.db"),
              ::testing::AllOf(HasSubstr("\nbest "), Not(HasSubstr("provisional"))));
}

TEST(TuneReport, SaysHowFarTheSearchWasOff) {
  EXPECT_THAT(report_text(contested("other", false), Device(), "lehr.db"),
              HasSubstr("search    showed 81.00 us for it, 10.0 % less than the finals\n"));
}

TEST(TuneReport, SaysThatNothingBeatTheDefaultOnlyWhereAllWereCompared) {
  Summary summary = contested("default", false);
  FinalistReport other;
  other.config = "other()";
  other.rounds = 9;
  summary.finalists = {other};
  EXPECT_THAT(report_text(summary, Device(), "lehr.db"),
              HasSubstr("the default stays: nothing beat it by more than the noise"));
  summary.finalists[0].rounds = 0;
  EXPECT_THAT(report_text(summary, Device(), "lehr.db"),
              HasSubstr("the default stays: there was no time to compare 1 finalist with it"));
  summary.earlier = "session-1";
  EXPECT_THAT(report_text(summary, Device(), "lehr.db"),
              HasSubstr("the verdict of an earlier run, whose winner there was no time to time again"));
}

TEST(TuneReport, SaysThatALibrarysSearchWasCut) {
  const auto report = [](std::int64_t tried) {
    Summary summary;
    summary.best = Trial();
    summary.contested = true;
    summary.verdict.baseline = "cudnn-best";
    summary.verdict.speedup_vs_baseline.value = 1.25;
    summary.verdict.algorithms_tried = tried;
    summary.verdict.algorithms = 44;
    return report_text(summary, Device(), "lehr.db");
  };
  EXPECT_THAT(report(9),
              HasSubstr("1.25x the speed of cudnn-best, of which 9 of 44 algorithms were tried\n"));
  EXPECT_THAT(report(44), HasSubstr("1.25x the speed of cudnn-best\n"));
}

}  // namespace
}  // namespace lehr::testing
