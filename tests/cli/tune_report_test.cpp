// What the table of `lehr tune` says of the roofline.
#include "cli/tune_report.h"

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
  summary.peaks = {989000, 4800, true};
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

}  // namespace
}  // namespace lehr::testing
