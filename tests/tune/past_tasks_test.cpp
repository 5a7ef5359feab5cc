// Tests of which rows of a log become other tasks, and how near these are.
#include "tune/past_tasks.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "costmodel/features.h"
#include "support.h"

namespace lehr::testing {
namespace {

TEST(PastTasks, AreNearWhereSizesAndTypesAre) {
  const Workload a = parse_workload("gemm m=512 n=512 k=512");
  EXPECT_EQ(distance(a, a), 0);
  EXPECT_EQ(distance(a, parse_workload("gemm m=1024 n=512 k=128")), 3);
  EXPECT_GE(distance(a, parse_workload("gemm m=512 n=512 k=512 a=f32:col")), 4);
  const Workload conv = parse_workload("conv2d n=1 h=56 w=56 c=64 k=64 r=3 s=3");
  EXPECT_EQ(distance(conv, parse_workload("conv2d n=1 h=56 w=56 c=128 k=64 r=3 s=3")), 1);
  EXPECT_EQ(distance(a, conv), 32);
}

Record record_of(const std::string& workload, const std::string& device, const Config& config, double us) {
  Record record;
  record.workload = workload;
  record.device = device;
  record.target = "cpu";
  record.config = config;
  Timing timing;
  timing.time_us = us;
  record.outcome = timing;
  return record;
}

TEST(PastTasks, LeaveOutAnswersAndFailuresAndTakeTheNearestFirst) {
  const Task here = toy_task();
  const Candidates candidates = toy_candidates();
  const RowOf& rows = candidates.row_of;
  const std::string own = here.problem.text;
  std::vector<Record> records = {
      record_of(own, identity_of(here.device), toy_config(4, 4, 4, 0), 5),  // an answer
      record_of(own, "elsewhere", toy_config(4, 4, 4, 0), 6),
      record_of(own, "elsewhere", toy_config(4, 4, 2, 0), 7),
      record_of(own, "elsewhere", toy_config(3, 4, 2, 0), 7),  // not in the space
      record_of("conv of the future", "elsewhere", toy_config(4, 4, 2, 0), 7),
  };
  records.push_back(record_of(own, "elsewhere", toy_config(4, 4, 1, 0), 1));
  records.back().outcome = Failure{FailureKind::kCompile, "no", {}};
  Database log = Database::open(":memory:");
  for (const Record& record : records) log.append(record);
  const auto tasks = past_tasks(log, here, candidates, rows, feature_table().size(), true);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].times_us, (std::vector<double>{6, 7}));
  EXPECT_EQ(tasks[0].rows.rows(), 2u);
  EXPECT_LT(tasks[0].weight, 1);
}

// No more rows are read of a log of a million rows, either.
TEST(PastTasks, AreTheNearestOfMany) {
  const Task here = toy_task();
  const Candidates candidates = toy_candidates();
  const RowOf& rows = candidates.row_of;
  Database log = Database::open(":memory:");
  // The task's own workload was tuned on many machines: as near as any, and more than are taken.
  for (int machine = 0; machine < 20; ++machine)
    log.append(
        record_of(here.problem.text, fmt::format("machine {:02}", machine), toy_config(4, 4, 4, 0), 5));
  // Other workloads come behind these.
  for (int m = 1; m <= 20; ++m)
    log.append(record_of(fmt::format("gemm m={} n=3000 k=5000", m), "machine 00", toy_config(4, 4, 4, 0), 5));
  const auto tasks = past_tasks(log, here, candidates, rows, feature_table().size(), true);
  ASSERT_EQ(tasks.size(), kMostTasks);
  for (const PastTask& task : tasks) EXPECT_EQ(task.name, here.problem.text);
}

TEST(PastTasks, AreAsManyAsTheBudgetPaysFor) {
  EXPECT_EQ(hint_rows(0, 0), kMostTasks * kMostTaskRows);
  EXPECT_EQ(hint_rows(1000000, 1e6), kMostTasks * kMostTaskRows);
  EXPECT_NEAR(static_cast<double>(hint_rows(0, 9.6)), 200, 1);
  EXPECT_NEAR(static_cast<double>(hint_rows(16, 0)), 100, 1);
  EXPECT_EQ(hint_rows(16, 9.6), hint_rows(16, 0));
  const Task here = toy_task();
  const Candidates candidates = toy_candidates();
  const RowOf& rows = candidates.row_of;
  Database log = Database::open(":memory:");
  for (int machine = 0; machine < 6; ++machine)
    for (const std::int64_t a : {1, 2, 4, 8, 16, 32})
      for (const std::int64_t b : {1, 2, 4, 8})
        log.append(record_of(here.problem.text, fmt::format("machine {}", machine), toy_config(a, b, 1, 0),
                             static_cast<double>(a * b)));
  const auto sizes = [&](std::size_t most) {
    std::vector<std::size_t> result;
    for (const PastTask& task : past_tasks(log, here, candidates, rows, feature_table().size(), true, most))
      result.push_back(task.times_us.size());
    return result;
  };
  EXPECT_EQ(sizes(1000), std::vector<std::size_t>(6, 24));
  EXPECT_EQ(sizes(80), std::vector<std::size_t>(4, 20));
  EXPECT_EQ(sizes(40), (std::vector<std::size_t>{16, 16, 8}));
  EXPECT_TRUE(sizes(0).empty());
}

}  // namespace
}  // namespace lehr::testing
