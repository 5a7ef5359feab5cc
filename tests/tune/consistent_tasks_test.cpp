// Which tasks of a log are listened to: those whose times follow from their configs.
#include "tune/consistent_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

enum class Times { kRule, kDealt };

/// `rows` random rows of three columns; the fastest are near (0.3, 0.7). Dealt: the same times at random.
PastTask task(const std::string& name, std::size_t rows, Times times, std::uint64_t seed) {
  PastTask past{name, 1, {}, FeatureMatrix(3), {}};
  Rng rng(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = rng.uniform(), y = rng.uniform();
    past.configs.push_back(Config{"k", {{"i", static_cast<std::int64_t>(i)}}});
    past.rows.append(
        std::vector<float>{static_cast<float>(x), static_cast<float>(y), static_cast<float>(rng.uniform())});
    past.times_us.push_back(100 * std::exp(3 * std::abs(x - 0.3) + std::abs(y - 0.7)));
  }
  if (times == Times::kDealt) rng.shuffle(past.times_us);
  return past;
}

std::vector<std::string> names(const std::vector<PastTask>& tasks) {
  std::vector<std::string> result;
  for (const PastTask& each : tasks) result.push_back(each.name);
  return result;
}

TEST(ConsistentTasks, LeavesOutTimesThatFollowFromNothing) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const ConsistentTasks trusted = consistent_tasks(
        {task("first", 200, Times::kRule, seed), task("dealt", 200, Times::kDealt, seed + 10),
         task("second", 200, Times::kRule, seed + 20)},
        {});
    EXPECT_THAT(names(trusted.tasks), ElementsAre("first", "second"));
    EXPECT_THAT(trusted.left_out, ElementsAre("dealt"));
    EXPECT_EQ(trusted.tasks[0].configs.size(), 200U);
    EXPECT_EQ(trusted.tasks[0].rows.rows(), 200U);
  }
}

TEST(ConsistentTasks, TrustsNobodyWhereAllTimesWereDealt) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const ConsistentTasks trusted = consistent_tasks(
        {task("a", 250, Times::kDealt, seed + 30), task("b", 250, Times::kDealt, seed + 40)}, {});
    EXPECT_THAT(trusted.tasks, IsEmpty());
    EXPECT_THAT(trusted.left_out, ElementsAre("a", "b"));
  }
}

TEST(ConsistentTasks, JudgesATaskOfFewRowsMostlyByTheOthers) {
  const ConsistentTasks with_others =
      consistent_tasks({task("many", 300, Times::kRule, 1), task("few", 4, Times::kDealt, 2)}, {});
  EXPECT_THAT(names(with_others.tasks), ElementsAre("many", "few"));
  const ConsistentTasks with_noise =
      consistent_tasks({task("noise", 300, Times::kDealt, 3), task("few", 4, Times::kRule, 4)}, {});
  EXPECT_THAT(with_noise.tasks, IsEmpty());
}

TEST(ConsistentTasks, SaysNothingAgainstTasksOfTooFewRowsToTell) {
  EXPECT_THAT(consistent_tasks({}, {}).tasks, IsEmpty());
  const ConsistentTasks few =
      consistent_tasks({task("one", 1, Times::kRule, 5), task("two", 30, Times::kDealt, 6)}, {});
  EXPECT_THAT(names(few.tasks), ElementsAre("one", "two"));
  EXPECT_THAT(few.left_out, IsEmpty());
}

}  // namespace
}  // namespace lehr::testing
