// Tests of sampled configs against the reference, on a measurer that knows which ones are wrong.
#include "tune/spot_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/describe_json.h"
#include "fake_measurer.h"
#include "toy_task.h"

namespace lehr::testing {
namespace {

Outcome outcome_by_unroll(const Source& source) {
  const Config config = config_of(source);
  for (const KnobValue& knob : config.knobs) {
    if (knob.name != "unroll") continue;
    if (knob.value == 2) return Failure{FailureKind::kWrongResult, "c[3] is 1, expected 2\nmore", {}};
    if (knob.value == 4) return Failure{FailureKind::kRejected, "spills", {}};
  }
  return toy_outcome(source);
}

TEST(SpotCheck, CountsRightRejectedAndWrongConfigs) {
  FakeClock clock;
  OpenDevice device;
  FakeMeasurer& measurer = fake(device, outcome_by_unroll, clock);
  const std::vector<FamilyCheck> checks =
      spot_check(toy_task(), tiny_candidates(), device, {.samples = 50, .seed = 1});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(measurer.prepared, 1);
  EXPECT_EQ(std::set<std::string>(measurer.measured.begin(), measurer.measured.end()).size(), 4u)
      << "a family of four configs is run whole, each once";
  EXPECT_EQ(checks[0].sampled, 4);
  EXPECT_EQ(checks[0].right, 2);
  EXPECT_EQ(checks[0].rejected, 1);
  ASSERT_EQ(checks[0].failures.size(), 1u);
  EXPECT_EQ(checks[0].failures[0].failure.kind, FailureKind::kWrongResult);
  const nlohmann::json document = checks;
  EXPECT_EQ(document[0]["failures"][0]["kind"], "wrong result");
  EXPECT_EQ(document[0]["failures"][0]["config"], to_text(checks[0].failures[0].config));
}

TEST(SpotCheck, TakesTheDefaultFirstAndAsManyDistinctConfigsAsAsked) {
  FakeClock clock;
  OpenDevice device;
  FakeMeasurer& measurer = fake(device, [](const Source& source) { return toy_outcome(source); }, clock);
  std::vector<std::string> first;
  for (const std::uint64_t seed : {1, 1, 2}) {
    measurer.measured.clear();
    const std::vector<FamilyCheck> checks =
        spot_check(toy_task(), toy_candidates(), device, {.samples = 12, .seed = seed});
    EXPECT_EQ(checks[0].sampled, 12);
    EXPECT_EQ(std::set<std::string>(measurer.measured.begin(), measurer.measured.end()).size(), 12u);
    if (first.empty()) first = measurer.measured;
    EXPECT_EQ(measurer.measured[0], first[0]) << "the default";
    EXPECT_EQ(measurer.measured == first, seed == 1) << "same seed, same configs";
  }
}

TEST(SpotCheck, StopsBetweenConfigsWhenInterrupted) {
  FakeClock clock;
  OpenDevice device;
  FakeMeasurer& measurer = fake(device, [](const Source& source) { return toy_outcome(source); }, clock);
  std::atomic<bool> interrupted = false;
  device.stop = &interrupted;
  measurer.before_trial = [&](int trial) { interrupted = trial == 2; };
  const std::vector<FamilyCheck> checks = spot_check(toy_task(), toy_candidates(), device, {.samples = 12});
  EXPECT_EQ(checks[0].sampled, 3);
}

}  // namespace
}  // namespace lehr::testing
