// Tests of logs that are joined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "database/record_codec.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::changed;
using test::dump_of;
using test::error_of;
using test::random_record;
using test::TempDir;
using test::timed;
using test::verdict;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Merge, AddsOverlappingShardsOnceHoweverOftenItIsAsked) {
  TempDir dir;
  Rng rng(1);
  Database into = Database::open(dir / "into.db");
  std::vector<std::filesystem::path> shards;
  std::vector<Record> records;
  for (int i = 0; i < 60; ++i) {
    Record record = random_record(rng);
    record.id = "id" + std::to_string(i);
    record.created_unix_ms = 1 + i;
    records.push_back(record);
  }
  for (int shard = 0; shard < 3; ++shard) {
    shards.push_back(dir / std::to_string(shard));
    Database log = Database::open(shards.back());
    for (int i = shard * 15; i < shard * 15 + 30; ++i) log.append(records[i]);
    StoredVerdict shared = verdict("w", "d", "id1");
    shared.created_unix_ms = 5;
    log.append(shared);
  }
  const std::vector<AddedRows> first = into.merge(shards);
  ASSERT_THAT(first, SizeIs(3));
  EXPECT_EQ(first[0].trials.added, 30);
  EXPECT_EQ(first[1].trials.added, 15);
  EXPECT_EQ(first[1].trials.present, 15);
  EXPECT_EQ(first[2].trials.added, 15);
  EXPECT_EQ(first[0].verdicts.added + first[1].verdicts.added + first[2].verdicts.added, 1);
  const std::string once = dump_of(into);
  for (const AddedRows& again : into.merge(shards)) {
    EXPECT_EQ(again.trials.added + again.verdicts.added, 0);
    EXPECT_EQ(again.trials.present, 30);
  }
  EXPECT_EQ(dump_of(into), once);
  EXPECT_EQ(into.stats().records, 60);
  EXPECT_TRUE(into.verify().sound());
}

TEST(Merge, TellsOfEachLogAndChangesNothingWhereOneCannotBeRead) {
  TempDir dir;
  Database into = Database::open(dir / "into.db");
  std::vector<std::filesystem::path> logs;
  for (const std::string name : {"a.db", "b.db", "torn.db"}) {
    logs.push_back(dir / name);
    Database::open(logs.back()).append(timed("w", "d", 5));
  }
  test::write_bytes(logs.back(), test::bytes_of(logs.back()).substr(0, 5000));
  std::vector<std::size_t> told;
  const auto tell = [&](std::size_t done, const AddedRows& rows) {
    told.push_back(done);
    EXPECT_EQ(rows.trials.added, 1);
    EXPECT_EQ(Database::open_read_only(dir / "into.db").stats().records, 0) << "all or nothing";
  };
  const auto torn = error_of([&] { into.merge(logs, Trust::kEvidence, tell); });
  EXPECT_THAT(torn.message, HasSubstr("torn.db' is damaged"));
  EXPECT_THAT(told, ElementsAre(1, 2));
  logs.back() = dir / "into.db";
  EXPECT_THAT(error_of([&] { into.merge(logs); }).message, HasSubstr("cannot be merged into itself"));
  logs.back() = dir / "none.db";
  EXPECT_THAT(error_of([&] { into.merge(logs); }).message, HasSubstr("there is no database"));
  EXPECT_EQ(into.stats().records, 0);
  logs.pop_back();
  told.clear();
  into.merge(logs, Trust::kEvidence, tell);
  EXPECT_THAT(told, ElementsAre(1, 2));
  EXPECT_EQ(into.stats().records, 2);
  EXPECT_TRUE(into.verify().sound());
}

TEST(Merge, RefusesDamagedRowsAndOtherContentUnderAKnownIdAndCountsThem) {
  TempDir dir;
  Database a = Database::open(dir / "a.db");
  Database b = Database::open(dir / "b.db");
  const Record shared = a.append(timed("w", "d", 5));
  Record other = shared;
  other.seed = 7;
  b.append(other);
  b.append(timed("w", "d", 4));
  b.append(timed("w", "d", 3));
  b.append(verdict("w", "d", shared.id));
  sqlite::Connection(dir / "b.db", sqlite::Mode::kReadWrite)
      .execute("UPDATE trial SET arch = 'x' WHERE time_us = 3; UPDATE verdict SET best_us = 0.5");
  const AddedRows rows = a.merge({b.path()})[0];
  EXPECT_EQ(rows.trials.added, 1);
  EXPECT_EQ(rows.trials.conflicting, 1);
  EXPECT_EQ(rows.trials.refused, 1);
  EXPECT_EQ(rows.verdicts.added, 0);
  EXPECT_EQ(rows.verdicts.refused, 1);
  EXPECT_EQ(a.find(shared.id)->seed, shared.seed);
  EXPECT_TRUE(a.verify().sound());
}

// Trials name their device by its row, which a merge takes along.
TEST(Merge, TakesDevicesAlongAndKeepsEachSetOfFactsThatOneIdentityHad) {
  TempDir dir;
  Database a = Database::open(dir / "a.db"), b = Database::open(dir / "b.db");
  const StoredDevice before = test::stored_gpu("H100", 114);
  StoredDevice after = before;  // a later prober tells more under the same identity
  after.limits.l2_bytes = 50 << 20;
  Record record = timed("w", before.identity, 5);
  record.device_hash = a.append(before);
  EXPECT_EQ(a.append(before), record.device_hash);
  const std::string first = a.append(record).id;
  Record later = timed("w", before.identity, 4);
  later.device_hash = b.append(after);
  EXPECT_NE(later.device_hash, record.device_hash);
  const std::string second = b.append(later).id;
  b.append(before);
  const AddedRows rows = a.merge({b.path()})[0];
  EXPECT_EQ(rows.devices.added, 1);
  EXPECT_EQ(rows.devices.present, 1);
  EXPECT_EQ(a.stats().devices, 2);
  Database copy = Database::open(dir / "copy.db");
  EXPECT_EQ(copy.merge({a.path()}, Trust::kAsRunHere)[0].devices.added, 2);
  EXPECT_TRUE(dump_of(copy) == dump_of(a));
  for (const Database* log : {&a, &copy}) {
    const auto devices = log->devices();
    EXPECT_EQ(devices.at(log->find(first)->device_hash).limits.l2_bytes, 0);
    EXPECT_EQ(devices.at(log->find(second)->device_hash).limits.l2_bytes, 50 << 20);
    EXPECT_EQ(log->verify().devices, 2);
    EXPECT_TRUE(log->verify().sound());
  }
}

using Origins = std::map<std::string, std::string>;

/// Writes a log with one session of one trial and its verdict.
Database log_of(const std::filesystem::path& path, const std::string& session) {
  Database log = Database::open(path);
  Record record = timed("w", "d", 5);
  record.session = session;
  StoredVerdict won = verdict("w", "d", log.append(record).id);
  won.session = session;
  log.append(won);
  return log;
}

TEST(Merge, KnowsWhoseSessionsAreWhose) {
  TempDir dir;
  Database a = log_of(dir / "a.db", "of a"), b = log_of(dir / "b.db", "of b"),
           c = log_of(dir / "c.db", "of c");
  EXPECT_EQ(a.origins(), Origins());
  EXPECT_EQ(a.merge({b.path()})[0].verdicts.added, 1);
  EXPECT_EQ(a.origins(), (Origins{{"of b", "b.db"}}));
  EXPECT_EQ(a.stats().merged_sessions, (std::map<std::string, std::int64_t>{{"b.db", 1}}));
  ASSERT_THAT(a.verdicts({}), SizeIs(1));
  EXPECT_EQ(a.verdicts({})[0].session, "of a") << "the newer one is what somebody else says";
  // Through a second log; what comes back home was never away.
  c.merge({a.path()});
  EXPECT_EQ(c.origins(), (Origins{{"of a", "a.db"}, {"of b", "b.db"}}));
  b.merge({c.path()});
  EXPECT_EQ(b.origins(), (Origins{{"of a", "a.db"}, {"of c", "c.db"}}));
  const std::string once = dump_of(b);
  b.merge({c.path()});
  EXPECT_EQ(dump_of(b), once);
  EXPECT_EQ(b.verify().origins, 2);
  EXPECT_TRUE(b.verify().sound());
}

TEST(Merge, AlgorithmsOfOthersAreNotTaken) {
  TempDir dir;
  Database a = log_of(dir / "a.db", "of a"), b = log_of(dir / "b.db", "of b");
  a.append(test::stored_algorithm("of a"));
  StoredAlgorithm other = test::stored_algorithm("of b");
  other.algorithm = 7;
  b.append(other);
  other.list = 1;
  other.session = "of nobody who has trials";
  b.append(other);
  EXPECT_EQ(b.algorithms("w", "d").size(), 2U);
  const auto count = [](const RowCounts& rows) { return std::pair(rows.added, rows.present); };
  EXPECT_EQ(count(a.merge({b.path()})[0].algorithms), std::pair(std::int64_t{2}, std::int64_t{0}));
  EXPECT_EQ(count(a.merge({b.path()})[0].algorithms), std::pair(std::int64_t{0}, std::int64_t{2}));
  EXPECT_EQ(a.stats().algorithms, 3);
  EXPECT_EQ(a.verify().algorithms, 3);
  EXPECT_TRUE(a.verify().sound());
  ASSERT_EQ(a.algorithms("w", "d").size(), 1U);
  EXPECT_EQ(a.algorithms("w", "d")[0].algorithm, 5);
  EXPECT_TRUE(a.algorithms("w", "another").empty());
  EXPECT_TRUE(a.algorithms("another", "d").empty());
  Database d = Database::open(dir / "d.db");
  d.merge({b.path()}, Trust::kAsRunHere);
  EXPECT_EQ(d.algorithms("w", "d").size(), 2U) << "of a log of one's own";
  EXPECT_TRUE(dump_of(d) == dump_of(b));
}

TEST(Merge, TrustedRowsAreAsGoodAsOnesOwn) {
  TempDir dir;
  Database a = log_of(dir / "a.db", "of a"), b = log_of(dir / "b.db", "of b"),
           c = log_of(dir / "c.db", "of c");
  a.merge({b.path()});
  c.merge({a.path()}, Trust::kAsRunHere);
  EXPECT_EQ(c.origins(), (Origins{{"of b", "b.db"}})) << "of which its log knew better";
}

TEST(Merge, CarriesDevicesOfTargetsThatItDoesNotKnowAndRefusesDamagedOnes) {
  TempDir dir;
  Database a = Database::open(dir / "a.db"), b = Database::open(dir / "b.db");
  b.append(test::stored_gpu("H100", 114));
  const sqlite::Row foreign =
      changed(device_table(), encode(test::stored_gpu("a GPU of tomorrow", 7)), "target", "tomorrow");
  bool given = false;
  const AddedRows own = b.add_rows([&](const LogTable*& table, sqlite::Row& row) {
    table = &device_table();
    row = foreign;
    return !std::exchange(given, true);
  });
  EXPECT_EQ(own.devices.added, 1);
  EXPECT_EQ(b.devices().size(), 1u);
  EXPECT_TRUE(b.verify().sound());
  sqlite::Connection(dir / "b.db", sqlite::Mode::kReadWrite)
      .execute("UPDATE device SET name='x' WHERE name='H100'");
  EXPECT_EQ(b.verify().damaged.at(0).table, "device");
  const AddedRows rows = a.merge({b.path()})[0];
  EXPECT_EQ(rows.devices.added, 1);
  EXPECT_EQ(rows.devices.refused, 1);
}

TEST(Verify, CountsTrialsWhoseDeviceIsNotThere) {
  Database log = Database::open(":memory:");
  Record record = timed("w", "d", 5);
  record.device_hash = log.append(test::stored_gpu("H100", 114));
  log.append(record);
  log.append(timed("w", "d", 5));  // an older one, which names none
  EXPECT_EQ(log.verify().without_device, 0);
  record.device_hash = 77;
  log.append(record);
  EXPECT_EQ(log.verify().without_device, 1);
  EXPECT_TRUE(log.verify().sound());
}

}  // namespace
}  // namespace lehr
