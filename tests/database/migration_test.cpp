// Files of older schema versions: read as they are, brought forward with a copy of what they were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "database/record_codec.h"
#include "database/salvage.h"
#include "database/schema.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::bytes_of;
using test::dump_of;
using test::error_of;
using test::make_older;
using test::TempDir;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Migration, ReadsAnOlderFileWithoutChangingIt) {
  for (const int version : {1, 2, 4}) {
    TempDir dir;
    const std::string text = make_older(dir / "a.db", version, 40);
    const std::string before = bytes_of(dir / "a.db");
    Database database = Database::open_read_only(dir / "a.db");
    EXPECT_TRUE(database.verify().sound());
    EXPECT_TRUE(dump_of(database) == text);
    EXPECT_EQ(database.stats().records, 40);
    EXPECT_EQ(database.stats().devices, 0);
    EXPECT_EQ(database.stats().ways, 0);
    EXPECT_THAT(database.ways("w", "d"), SizeIs(0));
    EXPECT_EQ(database.stats().schema_version, version);
    EXPECT_TRUE(database.best({}).has_value());
    EXPECT_THAT(database.all({}), SizeIs(40));
    EXPECT_THAT(database.devices(), SizeIs(0));
    EXPECT_EQ(database.note(), "");
    EXPECT_THAT(error_of([&] { database.append(test::timed("w", "d", 1)); }).message,
                HasSubstr("opened read-only"));
    EXPECT_TRUE(bytes_of(dir / "a.db") == before);
  }
}

TEST(Migration, BringsAnOlderFileForwardAndKeepsACopyOfWhatItWas) {
  for (const int version : {1, 2, 4}) {
    TempDir dir;
    const std::string text = make_older(dir / "a.db", version, 40);
    const std::string bak = fmt::format("a.db.v{}.bak", version);
    std::string note;
    {
      Database database = Database::open(dir / "a.db");
      note = database.note();
      EXPECT_TRUE(dump_of(database) == text);
      EXPECT_TRUE(database.verify().sound());
      EXPECT_EQ(database.stats().schema_version, 6);
      Record record = test::timed("w", "d", 1);
      std::get<Timing>(record.outcome).resources.advisories = "(C7510) wgmma serialised";
      record.source_hash = 0xfedc'ba98'7654'3210;
      record.device_hash = database.append(test::stored_gpu("H100", 114));
      const std::string id = database.append(record).id;
      const std::optional<Record> back = database.find(id);
      EXPECT_EQ(std::get<Timing>(back->outcome).resources.advisories, "(C7510) wgmma serialised");
      EXPECT_EQ(back->source_hash, record.source_hash);
      EXPECT_EQ(database.devices().at(back->device_hash).limits.cores, 114);
      database.append(test::stored_way("s1"));
      EXPECT_THAT(database.ways("w", "d"), SizeIs(1));
      EXPECT_TRUE(database.verify().sound());
    }
    EXPECT_THAT(note, HasSubstr(fmt::format("from schema version {} to 6", version)));
    EXPECT_THAT(note, HasSubstr(bak));
    const Database copy = Database::open_read_only(dir / bak);
    EXPECT_EQ(copy.stats().schema_version, version);
    EXPECT_TRUE(dump_of(copy) == text);
    EXPECT_EQ(Database::open(dir / "a.db").note(), "");
    EXPECT_FALSE(std::filesystem::exists(dir / (bak + ".2")));
    EXPECT_FALSE(std::filesystem::exists(dir / (bak + ".part")));
  }
}

// Their intervals were in the document only; a reader sees one form, whether the file was brought forward or
// not.
TEST(Migration, ReadsTheIntervalsOfOlderVerdicts) {
  TempDir dir;
  make_older(dir / "a.db", 2, 1);
  for (const bool brought_forward : {false, true}) {
    if (brought_forward) Database::open(dir / "a.db");
    const std::vector<StoredVerdict> verdicts = Database::open_read_only(dir / "a.db").verdicts({});
    ASSERT_THAT(verdicts, SizeIs(1));
    EXPECT_EQ(verdicts[0].best.interval, (Interval{4.5, 5.5}));
    EXPECT_EQ(verdicts[0].default_time.interval, (Interval{9, 11}));
    EXPECT_EQ(verdicts[0].speedup_vs_default.interval, (Interval{1.9, 2.1}));
    EXPECT_FALSE(verdicts[0].speedup_vs_baseline.interval.known());
    EXPECT_EQ(verdicts[0].deterministic, true);
  }
}

TEST(Migration, NeverOverwritesAnEarlierCopy) {
  TempDir dir;
  make_older(dir / "a.db", 1, 3);
  test::write_bytes(dir / "a.db.v1.bak", "precious");
  EXPECT_THAT(Database::open(dir / "a.db").note(), HasSubstr("a.db.v1.bak.2"));
  EXPECT_EQ(bytes_of(dir / "a.db.v1.bak"), "precious");
  EXPECT_EQ(Database::open_read_only(dir / "a.db.v1.bak.2").stats().records, 3);
}

TEST(Migration, ChangesNothingWhereTheCopyCannotBeMade) {
  TempDir dir;
  const std::string text = make_older(dir / "a.db", 1, 3);
  std::filesystem::create_directories(dir / "a.db.v1.bak.part" / "in the way");
  EXPECT_THAT(error_of([&] { Database::open(dir / "a.db"); }).message, HasSubstr("a.db.v1.bak.part"));
  const Database database = Database::open_read_only(dir / "a.db");
  EXPECT_EQ(database.stats().schema_version, 1);
  EXPECT_TRUE(dump_of(database) == text);
}

TEST(Migration, RowsOfAllVersionsAreTheSameRowsToMergeAndSalvage) {
  for (const int version : {1, 2, 4}) {
    TempDir dir;
    const std::string text = make_older(dir / "old.db", version, 40);
    std::vector<Database> old;
    old.push_back(Database::open_read_only(dir / "old.db"));
    Database fresh = Database::open(dir / "new.db");
    EXPECT_EQ(fresh.merge(old, Trust::kAsRunHere)[0].trials.added, 40);
    const AddedRows again = fresh.merge(old, Trust::kAsRunHere)[0];
    EXPECT_EQ(again.trials.present, 40);
    EXPECT_EQ(again.verdicts.present, 1);
    EXPECT_TRUE(dump_of(fresh) == text);
    {  // rows of both versions in one table
      Database forward = Database::open(dir / "old.db");
      Record record = test::timed("w", "d", 1);
      record.device_hash = forward.append(test::stored_gpu("H100", 114));
      record.source_hash = 7;
      forward.append(record);
      forward.append(test::stored_way("s1"));
    }
    old[0] = Database::open_read_only(dir / "old.db");
    const AddedRows more = fresh.merge(old, Trust::kAsRunHere)[0];
    EXPECT_EQ(more.trials.added, 1);
    EXPECT_EQ(more.trials.present, 40);
    EXPECT_EQ(more.verdicts.present, 1);
    EXPECT_EQ(more.devices.added, 1);
    EXPECT_EQ(more.ways.added, 1);
    const AddedRows saved = salvage(dir / "old.db", dir / "saved.db");
    EXPECT_EQ(saved.trials.added, 41);
    EXPECT_EQ(saved.verdicts.added, 1);
    EXPECT_EQ(saved.devices.added, 1);
    EXPECT_EQ(saved.ways.added, 1);
    EXPECT_TRUE(dump_of(Database::open_read_only(dir / "saved.db")) == dump_of(old[0]));
  }
}

TEST(Migration, RefusesAFileWithATriggerAViewOrAnotherTableInPlaceOfOurs) {
  TempDir dir;
  for (const std::string change :
       {"CREATE TRIGGER t AFTER INSERT ON trial BEGIN DELETE FROM trial; END",
        "CREATE VIEW v AS SELECT * FROM trial", "CREATE INDEX i ON trial (abs(time_us))",
        "CREATE TABLE other (x)", "DROP INDEX trial_by_time",
        "ALTER TABLE trial ADD COLUMN more TEXT DEFAULT 'x'",
        "ALTER TABLE trial RENAME TO old; CREATE VIEW trial AS SELECT * FROM old"}) {
    const auto path = dir / "a.db";
    std::filesystem::remove(path);
    Database::open(path).append(test::timed("w", "d", 1));
    sqlite::Connection(path, sqlite::Mode::kReadWrite).execute(change);
    const std::string before = bytes_of(path);
    for (const bool read_only : {false, true}) {
      const auto caught =
          error_of([&] { read_only ? Database::open_read_only(path) : Database::open(path); });
      EXPECT_EQ(caught.kind, static_cast<int>(ErrorKind::kUser)) << change;
      EXPECT_THAT(caught.message, HasSubstr("other tables")) << change;
    }
    EXPECT_TRUE(bytes_of(path) == before) << change;
  }
  // What ANALYZE leaves is harmless.
  const auto path = dir / "b.db";
  Database::open(path).append(test::timed("w", "d", 1));
  sqlite::Connection(path, sqlite::Mode::kReadWrite).execute("ANALYZE");
  EXPECT_EQ(Database::open(path).stats().records, 1);
}

}  // namespace
}  // namespace lehr
