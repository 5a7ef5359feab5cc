// Tests of a run on several nodes: shares that all compute alike, one plan, published logs, and what they say
// of the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/describe_json.h"
#include "base/rng.h"
#include "cluster/plan.h"
#include "cluster/publisher.h"
#include "cluster/survey.h"
#include "tests/database/support.h"
#include "tests/support/seed.h"

namespace lehr::cluster {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::TempDir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Plan plan_of(int shards, std::vector<double> costs) {
  Plan plan;
  plan.shards = shards;
  plan.probe = "w0";
  for (const double cost : costs) {
    PlanItem item;
    item.workload = fmt::format("w{}", plan.items.size());
    item.cost = cost;
    item.trials = 10;
    plan.items.push_back(item);
  }
  share_out(plan.items, shards);
  return plan;
}

std::vector<double> loads_of(const Plan& plan) {
  std::vector<double> loads(static_cast<std::size_t>(plan.shards), 0);
  for (const PlanItem& item : plan.items) loads.at(static_cast<std::size_t>(item.shard)) += item.cost;
  return loads;
}

TEST(Shares, CostNoMoreThanTheMeanAndTheDearestItem) {
  const std::uint64_t seed = lehr::testing::test_seed(72);
  SCOPED_TRACE(fmt::format("LEHR_TEST_SEED={}", seed));
  Rng rng(seed);
  for (int list = 0; list < 1000; ++list) {
    std::vector<double> costs(rng.below(60));
    double sum = 0, dearest = 0;
    for (double& cost : costs) {
      cost =
          rng.below(4) == 0 ? static_cast<double>(rng.below(1'000'000)) : static_cast<double>(rng.below(50));
      sum += cost;
      dearest = std::max(dearest, cost);
    }
    const int shards = 1 + static_cast<int>(rng.below(20));
    const Plan plan = plan_of(shards, costs);
    for (const double load : loads_of(plan)) ASSERT_LE(load, sum / shards + dearest + 1e-6);
    ASSERT_EQ(nlohmann::json(plan), nlohmann::json(plan_of(shards, costs)));
  }
}

TEST(Shares, AreNamedByANumberAndACount) {
  EXPECT_EQ(parse_shard("3/8").index, 3);
  EXPECT_EQ(parse_shard("3/8").count, 8);
  for (const char* wrong : {"", "3", "8/8", "-1/8", "3/0", "3/8/1", "a/b", "3/99999"})
    EXPECT_EQ(error_of([&] { parse_shard(wrong); }).kind, test::kUser) << wrong;
}

TEST(ThePlan, IsThatOfWhoCameFirst) {
  const TempDir folder;
  const Plan first = settle_plan(folder / "run", plan_of(2, {1, 2, 3}));
  EXPECT_GT(first.created_unix_ms, 0);
  EXPECT_EQ(settle_plan(folder / "run", plan_of(2, {1, 2, 3})).created_unix_ms, first.created_unix_ms);
  for (const Plan& other : {plan_of(3, {1, 2, 3}), plan_of(2, {1, 2}), plan_of(2, {1, 2, 4})})
    EXPECT_THAT(error_of([&] { settle_plan(folder / "run", other); }).message,
                HasSubstr("name a new folder"));
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder / "run")) files.insert(entry.path().filename());
  EXPECT_THAT(files, ElementsAre("plan.json"));
}

TEST(ThePlan, OfAStrangerIsRefused) {
  const TempDir folder;
  EXPECT_EQ(error_of([&] { read_plan(folder.path()); }).kind, test::kUser);
  for (const char* text : {"", "[]", "{\"shards\": 0}", "{\"shards\": \"x\"}",
                           "{\"shards\": 1, \"probe\": \"\", \"publish_every_s\": 1, \"created_unix_ms\": 1, "
                           "\"items\": [{\"workload\": \"w\", \"shard\": 1, \"cost\": 1, \"trials\": 1, "
                           "\"seconds\": 0}]}"}) {
    std::ofstream(folder / "plan.json") << text;
    EXPECT_EQ(error_of([&] { read_plan(folder.path()); }).kind, test::kUser) << text;
  }
}

Record trial(const std::string& workload, const std::string& session, std::int64_t at_ms) {
  Record record = test::timed(workload, "cpu | a processor", 5);
  record.session = session;
  record.created_unix_ms = at_ms;
  return record;
}

constexpr std::int64_t kBegan = 1'700'000'000'000, kSecond = 1000;

PublishedName attempt_at(int shard, const std::string& host, char digit) {
  return {{shard, 2}, host, std::string(kAttemptDigits, digit)};
}

/// A folder with a plan of two shards and the logs of their attempts.
class ARun {
 public:
  ARun() {
    Plan plan = plan_of(2, {1, 1, 1, 1});  // w0 and w2 are shard 0's
    plan.created_unix_ms = kBegan;
    std::ofstream(folder / "plan.json") << nlohmann::json(plan).dump();
  }
  Database log_of(const PublishedName& name) const { return Database::open(folder / to_text(name)); }
  Survey at(std::int64_t seconds) const { return survey_of(folder.path(), kBegan + seconds * kSecond); }

  TempDir folder;
};

/// Adds an attempt's probe, then trials one second apart.
void add_attempt(Database log, const PublishedName& name, double probe_us, int trials,
                 std::int64_t from_s = 1) {
  const std::int64_t from_ms = kBegan + from_s * kSecond;
  Record probe = trial("w0", name.attempt + "00000000000000000000", from_ms);
  probe.outcome = Timing{.time_us = probe_us, .samples_us = {probe_us}, .resources = {}};
  log.append(probe);
  const std::string workload = fmt::format("w{}", name.shard.index);
  for (int i = 1; i <= trials; ++i) log.append(trial(workload, "s", from_ms + i * kSecond));
}

TEST(ASurvey, CountsEachTrialOnceAndNoProbes) {
  const ARun run;
  const PublishedName first = attempt_at(0, "n1", 'a'), again = attempt_at(0, "n2", 'b');
  add_attempt(run.log_of(first), first, 5, 4);
  {
    Database log = run.log_of(again);
    log.merge(std::vector{run.folder / to_text(first)}, Trust::kAsRunHere);
    add_attempt(std::move(log), again, 5, 2, 60);
  }
  const ShardProgress shard = run.at(70).shards[0];
  EXPECT_EQ(shard.trials, 6);
  EXPECT_EQ(shard.planned, 20);
  EXPECT_EQ(shard.attempts, 2);
  EXPECT_EQ(shard.node, "n2");
  EXPECT_EQ(shard.per_minute, 60);  // two in two seconds, by the newest attempt
  EXPECT_EQ(*shard.left_s, 14);
  EXPECT_EQ(shard.state, ShardState::kRunning);
  EXPECT_EQ(run.at(70).shards[1].state, ShardState::kWaiting);
  EXPECT_FALSE(run.at(70).left_s);
}

TEST(ASurvey, TellsSilentDoneAndFailedShards) {
  const ARun run;
  for (const int shard : {0, 1}) {
    const PublishedName name = attempt_at(shard, "n", shard == 0 ? 'a' : 'b');
    add_attempt(run.log_of(name), name, 5, 4);
  }
  EXPECT_EQ(run.at(184).shards[0].state, ShardState::kRunning);
  EXPECT_EQ(run.at(186).shards[0].state, ShardState::kSilent);
  std::ofstream(done_file(run.folder.path(), {0, 2})) << R"({"code": 0, "failure": ""})";
  std::ofstream(done_file(run.folder.path(), {1, 2})) << R"({"code": 3, "failure": "nothing ran"})";
  const Survey survey = run.at(1000);
  EXPECT_EQ(survey.shards[0].state, ShardState::kDone);
  EXPECT_EQ(survey.shards[1].state, ShardState::kFailed);
  EXPECT_THAT(survey.notes, ElementsAre("shard 1: nothing ran"));
  EXPECT_EQ(survey.left_s, 0);
}

TEST(ASurvey, NamesSlowNodesAndGpusThatTwoShardsShare) {
  const ARun run;
  for (const int shard : {0, 1}) {
    const PublishedName name = attempt_at(shard, shard == 0 ? "fast" : "slow", shard == 0 ? 'a' : 'b');
    add_attempt(run.log_of(name), name, shard == 0 ? 5 : 6, 1);
  }
  ASSERT_EQ(run.at(3).notes.size(), 1);
  EXPECT_THAT(run.at(3).notes[0], HasSubstr("node slow (shard 1) is slow"));
  EXPECT_NEAR(run.at(3).shards[1].slowness, 1.2, 1e-9);

  const ARun shared;
  for (const int shard : {0, 1}) {
    const PublishedName name = attempt_at(shard, "n", shard == 0 ? 'a' : 'b');
    Database log = shared.log_of(name);
    StoredDevice gpu = test::stored_gpu("a gpu", 8);
    gpu.uuid = "GPU-1";
    Record probe = trial("w0", name.attempt + "0", kBegan + 1);
    probe.device_hash = log.append(gpu);
    log.append(probe);
  }
  ASSERT_EQ(shared.at(3).notes.size(), 1);
  EXPECT_THAT(shared.at(3).notes[0], HasSubstr("shards 0 and 1 work on one GPU of node n (GPU-1)"));
}

TEST(ASurvey, PassesOverWhatIsNoLogOfTheRun) {
  const ARun run;
  std::ofstream(run.folder / "shard-0-of-2.n.aaaaaaaaaaaa.db") << "no log";
  std::ofstream(run.folder / "shard-0-of-3.n.aaaaaaaaaaaa.db") << "of another run";
  std::ofstream(run.folder / "shard-0-of-2.n.aaaaaaaaaaaa.db.17.tmp") << "cut off";
  EXPECT_EQ(run.at(1).notes.size(), 1);
  EXPECT_EQ(run.at(1).shards[0].trials, 0);
}

TEST(APublisher, PublishesAWholeLogThatNeedsNoHelperFiles) {
  const TempDir folder;
  fs::create_directory(folder / "shared");
  const PublishedName name = attempt_at(0, "n", 'a');
  Database log = Database::open(folder / "log.db");
  Publisher publisher(folder / "shared", name, log.path(), 3600, [](const std::string&) {});
  for (int i = 0; i < 100; ++i) log.append(trial("w", "s", kBegan + i));
  EXPECT_EQ(publisher.finish(), "");
  EXPECT_EQ(Database::open_read_only(folder / "shared" / to_text(name)).all({}).size(), 100);
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (entry.path().extension() != ".db-wal" && entry.path().extension() != ".db-shm")
      files.insert(entry.path().filename());
  EXPECT_THAT(files, ElementsAre("log.db", to_text(name), "shared"));
  ASSERT_EQ(published_in(folder / "shared").size(), 1);
  EXPECT_EQ(published_in(folder / "shared")[0].host, "n");
}

TEST(APublisher, SaysWhatCannotBePublishedAndKeepsTheLastWholeFile) {
  const TempDir folder;
  const fs::path shared = folder / "shared";
  fs::create_directory(shared);
  const PublishedName name = attempt_at(0, "n", 'a');
  Database log = Database::open(folder / "log.db");
  log.append(trial("w", "s", kBegan));
  std::vector<std::string> told;
  Publisher publisher(shared, name, log.path(), 3600, [&](const std::string& text) { told.push_back(text); });
  fs::rename(shared, folder / "gone");
  EXPECT_THAT(publisher.finish(), HasSubstr("log.db alone and not published"));
  EXPECT_EQ(publisher.finish(), "");  // it has ended
}

}  // namespace
}  // namespace lehr::cluster
