// What the table of `lehr tune` says of the roofline, and of searches that were cut.
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
  FinalistTold other;
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
    summary.verdict.ways_tried = tried;
    summary.verdict.ways = 44;
    return report_text(summary, Device(), "lehr.db");
  };
  EXPECT_THAT(report(9), HasSubstr("1.25x the speed of cudnn-best, of which 9 of 44 ways were tried\n"));
  EXPECT_THAT(report(44), HasSubstr("1.25x the speed of cudnn-best\n"));
}

}  // namespace
}  // namespace lehr::testing
