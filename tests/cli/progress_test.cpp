// Tests of how events are shown, and how often.
#include "cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace lehr::testing {
namespace {

TEST(Progress, IsShownInTheStyleThatIsAskedFor) {
  EXPECT_EQ(progress_style("json", false), ProgressStyle::kJson);
  EXPECT_EQ(progress_style("none", true), ProgressStyle::kQuiet);
  EXPECT_EQ(progress_style("", true), ProgressStyle::kQuiet);
  EXPECT_EQ(progress_style("auto", false), progress_style("", false));
  EXPECT_THROW(progress_style("jsn", false), Error);
  EXPECT_THROW(progress_style("json", true), Error);
}

TEST(Progress, InJsonShowsTrialsTenTimesASecondAndEachNewBest) {
  ::testing::internal::CaptureStderr();
  ProgressPrinter printer(ProgressStyle::kJson);
  api::Progress event;
  for (int i = 0; i < 100; ++i) {
    event.kind = i % 50 == 25 ? api::Progress::Kind::kNewBest : api::Progress::Kind::kTrial;
    event.elapsed_s = 0.01 * i;
    event.json = "{}";
    printer.show(event);
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NEAR(static_cast<double>(std::ranges::count(text, '\n')), 10 + 2, 1);
}

}  // namespace
}  // namespace lehr::testing
