// Rows of logs whose configs have knobs that there are no more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text_file.h"
#include "costmodel/features.h"
#include "support.h"
#include "tune/evaluator.h"
#include "tune/past_tasks.h"
#include "tune/resume.h"
#include "tune/stored_kernel.h"

namespace lehr::testing {
namespace {

/// The toy's, which had a knob "order" once, of which 0 is left.
Candidates toy_without_order() {
  Candidates candidates = toy_candidates();
  FamilySpace family = candidates.space.families()[0];
  family.retired("order", 0);
  std::vector<FamilySpace> families = {std::move(family)};
  candidates.space = Space(std::move(families));
  return candidates;
}

/// As a session before that stored it.
Record older(Record row, std::int64_t order) {
  row.id += "-" + std::to_string(order);
  row.config.knobs.insert(row.config.knobs.begin() + 1, {"order", order});
  if (order != 0) row.source_hash ^= 1;  // its kernel was another one
  return row;
}

TEST(RetiredKnobs, OfTheValueThatStaysAreLeftOutOfAnswers) {
  ToySession toy;
  toy.run();
  const std::vector<Record> rows = toy.rows("session-1");
  const std::string identity = identity_of(toy.task.device);
  std::vector<Record> stored;
  for (const Record& row : rows)
    for (const std::int64_t order : {1, 0}) stored.push_back(older(row, order));
  const EarlierRuns earlier = earlier_runs(stored, identity, toy_without_order(), {});
  EXPECT_EQ(earlier.obsolete, std::ssize(rows));
  ASSERT_EQ(earlier.answers.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(earlier.answers[i].config, rows[i].config);
    EXPECT_EQ(earlier.answers[i].id, rows[i].id + "-0");
  }
  stored[1].source_hash ^= 1;  // of the value that stays, but of another text
  const EarlierRuns changed = earlier_runs(stored, identity, toy_without_order(), {});
  EXPECT_EQ(changed.answers.size(), rows.size() - 1);
  EXPECT_EQ(changed.changed, 1);
}

TEST(RetiredKnobs, OfOtherValuesAreEvidence) {
  ToySession toy;
  toy.run();
  std::vector<Record> rows = toy.rows("session-1");
  std::erase_if(rows, [](const Record& row) { return !row.time_us(); });
  ASSERT_GE(rows.size(), 20u);
  Database log = Database::open(":memory:");
  std::set<double> expected;
  for (std::size_t i = 0; i < 20; ++i) {
    Record row = older(rows[i], static_cast<std::int64_t>(i % 2));
    if (i == 3) row.source_hash = 0;  // it tells no more than its version, and its knob
    if (i % 2 == 1) expected.insert(*row.time_us());
    log.append(row);
  }
  const Candidates candidates = toy_without_order();
  const RowOf features = kernel_rows(candidates, toy.task.device.limits);
  const auto tasks = past_tasks(log, toy.task, candidates, features, feature_table().size(), true);
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(std::set<double>(tasks[0].times_us.begin(), tasks[0].times_us.end()), expected);
  for (const Config& config : tasks[0].configs) EXPECT_TRUE(candidates.space.contains(config));
  for (const Config& config : tasks[0].configs) EXPECT_EQ(config.find("order"), std::nullopt);
}

/// A committed log, unpacked.
Database committed_log(const std::string& name) {
  const std::string path = ::testing::TempDir() + "retired_knobs_" + name + ".db";
  std::ofstream(path, std::ios::binary)
      << read_text_file(LEHR_SOURCE_DIR "/bench/results/gpu/" + name + ".db.gz");
  return Database::open_read_only(path);
}

/// Of a committed log on the device that it was made on.
Candidates candidates_of(const Record& row, const std::map<std::uint64_t, StoredDevice>& devices) {
  Device device;
  device.limits = limits_of(devices.at(row.device_hash)).limits;
  return candidates_for({parse_workload(row.workload), device});
}

bool had(const Config& config, std::int64_t value) {
  return config.find("hilbert") == value || config.find("registers") == value;
}

/// `config` as this version writes it.
Config now(const Space& space, const Config& config) {
  return space.config_of(space.point_of(config));
}

// The rows of an H200, 2026-11-27: kernels with neither knob set are still made, by the letter.
TEST(RetiredKnobs, OfACommittedLogAnswerWhereTheyWereOff) {
  const Database log = committed_log("short_checks");
  const auto devices = log.devices();
  std::map<std::string, std::vector<Record>> by_workload;
  for (Record& row : log.all({}))
    if (row.config.family.ends_with("_wgmma")) by_workload[row.workload].push_back(std::move(row));
  int off = 0, on = 0;
  std::size_t answers = 0;
  for (auto& [workload, rows] : by_workload) {
    SCOPED_TRACE(workload);
    const Candidates candidates = candidates_of(rows[0], devices);
    std::set<std::string> expected;
    for (const Record& row : rows) {
      (had(row.config, 1) ? on : off) += 1;
      EXPECT_EQ(candidates.space.contains(row.config), !had(row.config, 1)) << to_text(row.config);
      EXPECT_TRUE(candidates.space.find_like(row.config)) << to_text(row.config);
      if (!had(row.config, 1) && row.time_us()) expected.insert(to_text(now(candidates.space, row.config)));
    }
    std::set<std::string> answered;
    for (const KnownTrial& answer : earlier_runs(rows, rows[0].device, candidates, {}).answers) {
      EXPECT_FALSE(answer.config.find("hilbert") || answer.config.find("registers"));
      if (answer.time_us()) answered.insert(to_text(answer.config));
    }
    EXPECT_TRUE(std::ranges::includes(expected, answered));
    answers += answered.size();
  }
  EXPECT_GT(off, 150);
  EXPECT_GT(on, 50);
  EXPECT_GT(answers, 100u);
}

}  // namespace
}  // namespace lehr::testing
