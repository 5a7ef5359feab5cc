// Events as lines for programs.
#include "api/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lehr::testing {
namespace {

using nlohmann::json;

TEST(Progress, IsOneLineOfJsonForEachEvent) {
  Event event;
  event.kind = EventKind::kNewBest;
  event.note = "gemm_cpu(\"x\")\n";
  event.elapsed_s = 2.5;
  event.measured = 7;
  event.trial_limit = 20;
  event.trials_per_s = 2.8;
  event.default_us = 40;
  event.best.us = 20;
  event.best_gflops = 3;
  event.failed[FailureKind::kCompile] = 1;
  const std::string line = progress_json(event);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(json::parse(line),
            json::parse(R"({"event": "best", "note": "gemm_cpu(\"x\")\n", "elapsed_s": 2.5, "eta_s": null,
                            "measured": 7, "trial_limit": 20, "trials_per_s": 2.8, "best_us": 20.0,
                            "default_us": 40.0, "gflops": 3.0, "failed": {"compile": 1}})"));
}

TEST(Progress, OfSeveralTasksHasTheirSums) {
  Event event;
  event.shared = SharedProgress{.tasks = 5, .known = 2, .best_us = 0, .default_us = 0, .measured = 3};
  event.eta_s = 4;
  const json object = json::parse(progress_json(event));
  EXPECT_EQ(object["tasks"], 5);
  EXPECT_EQ(object["known"], 2);
  EXPECT_EQ(object["eta_s"], 4);
  EXPECT_TRUE(object["best_us"].is_null()) << "nothing is timed yet";
  EXPECT_TRUE(object["trial_limit"].is_null());
}

}  // namespace
}  // namespace lehr::testing
