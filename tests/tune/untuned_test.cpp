// Tests of the prediction for a task that nobody measures.
#include "tune/untuned.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toy_task.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

const Task kHere = toy_task();
const Candidates kCandidates = toy_candidates();

Record row_of(const Config& config, const std::string& device, int version = 1) {
  Record row;
  row.workload = kHere.problem.text;
  row.device = device;
  row.target = name_of(kHere.device.limits.target);
  row.config = config;
  row.template_version = version;
  row.session = "session";
  Timing timing;
  timing.time_us = toy_time_us(config);
  row.outcome = timing;
  return row;
}

std::string here() {
  return identity_of(kHere.device);
}

TEST(Untuned, IsTheDefaultWhereNothingIsKnown) {
  const Untuned found = untuned(kHere, kCandidates, {});
  EXPECT_EQ(found.belief, Belief::kPrior);
  EXPECT_EQ(found.config, toy_config(1, 1, 1, 0));
  EXPECT_EQ(found.trials, 0);
  EXPECT_EQ(found.record, "");
  EXPECT_GT(found.expected.interval.low, 0);
  EXPECT_LT(found.expected.interval.low, found.expected.us);
  EXPECT_GT(found.expected.interval.high, found.expected.us);
  const Database empty = Database::open(":memory:");
  EXPECT_EQ(untuned(kHere, kCandidates, {.own = &empty, .others = &empty}).belief, Belief::kPrior);
}

TEST(Untuned, IsTheFastestOfTheLogsTrials) {
  Database log = Database::open(":memory:");
  log.append(row_of(toy_config(1, 1, 1, 0), here()));
  const Record fastest = log.append(row_of(toy_config(4, 4, 4, 0), here()));
  log.append(row_of(toy_config(2, 1, 1, 0), here()));
  log.append(row_of(toy_config(8, 8, 1, 0), "elsewhere"));
  const Untuned found = untuned(kHere, kCandidates, {.own = &log, .others = &log});
  EXPECT_EQ(found.belief, Belief::kLog);
  EXPECT_EQ(found.config, fastest.config);
  EXPECT_EQ(found.record, fastest.id);
  EXPECT_EQ(found.expected.us, toy_time_us(fastest.config));
  EXPECT_EQ(found.trials, 3);
  EXPECT_FALSE(found.contested);
  EXPECT_THAT(found.source, HasSubstr("3 trials of this workload on this device"));
  EXPECT_EQ(found.loss, loss_to_expect(Belief::kLog, 3));
  EXPECT_EQ(log.stats().records, 4);
}

TEST(Untuned, IsTheWinnerOfTheFinals) {
  Database log = Database::open(":memory:");
  const Record winner = log.append(row_of(toy_config(4, 4, 2, 0), here()));
  const Record faster = log.append(row_of(toy_config(4, 4, 4, 0), here()));
  ASSERT_LT(*faster.time_us(), *winner.time_us());
  StoredVerdict verdict;
  verdict.workload = kHere.problem.text;
  verdict.device = here();
  verdict.session = "session";
  verdict.record_id = winner.id;
  verdict.best = {7, {6.9, 7.1}};
  verdict.json = "{}";
  verdict.created_unix_ms = faster.created_unix_ms + 1;
  log.append(verdict);
  const Untuned found = untuned(kHere, kCandidates, {.own = &log});
  EXPECT_TRUE(found.contested);
  EXPECT_EQ(found.config, winner.config);
  EXPECT_EQ(found.expected.us, 7);
}

// A kernel whose source is another one in this version is no answer, however fast it was.
TEST(Untuned, PassesOverTrialsOfOtherKernels) {
  Database log = Database::open(":memory:");
  log.append(row_of(toy_config(8, 8, 1, 0), here(), 7));
  EXPECT_NE(untuned(kHere, kCandidates, {.own = &log}).belief, Belief::kLog);
  const Record old = log.append(row_of(toy_config(2, 2, 1, 0), here()));
  log.append(row_of(toy_config(1, 2, 1, 0), here()));
  const Untuned found = untuned(kHere, kCandidates, {.own = &log});
  EXPECT_EQ(found.belief, Belief::kLog);
  EXPECT_EQ(found.config, old.config);
}

TEST(Untuned, GoesByOtherTasksWhereItsOwnIsUnknown) {
  Database log = Database::open(":memory:");
  for (const std::int64_t rows : {1, 2, 4, 8})
    for (const std::int64_t columns : {1, 2, 4})
      for (const std::int64_t unroll : {1, 4})
        log.append(row_of(toy_config(rows, columns, unroll, 0), "elsewhere"));
  const Untuned found = untuned(kHere, kCandidates, {.own = &log, .others = &log, .seed = 3});
  EXPECT_EQ(found.belief, Belief::kOtherTasks);
  EXPECT_EQ(found.trials, 24);
  EXPECT_THAT(found.source, HasSubstr("24 trials of 1 other task (nearest: gemm m=8"));
  EXPECT_TRUE(kCandidates.space.contains(found.config));
  EXPECT_LT(toy_time_us(found.config), toy_time_us(toy_config(1, 1, 1, 0)) / 10);
  EXPECT_LT(found.expected.interval.low, found.expected.us);
  const Untuned again = untuned(kHere, kCandidates, {.own = &log, .others = &log, .seed = 3});
  EXPECT_EQ(again.config, found.config);
  EXPECT_EQ(again.expected.us, found.expected.us);
  EXPECT_EQ(untuned(kHere, kCandidates, {.own = &log}).belief, Belief::kPrior);
}

TEST(Untuned, ExpectsLessLossOfMoreTrials) {
  double before = loss_to_expect(Belief::kPrior, 0);
  EXPECT_GT(before, 0);
  EXPECT_EQ(loss_to_expect(Belief::kLog, 1), before);
  for (std::int64_t trials = 2; trials < 1'000'000; trials *= 2) {
    const double loss = loss_to_expect(Belief::kLog, trials);
    EXPECT_GT(loss, 0);
    EXPECT_LT(loss, before) << trials << " trials";
    before = loss;
  }
}

}  // namespace
}  // namespace lehr::testing
