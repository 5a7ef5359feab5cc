// Files of the first schema version: read as they are, brought forward with a copy of what they were.
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
using test::make_version_1;
using test::TempDir;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Migration, ReadsAFileOfVersion1WithoutChangingIt) {
  TempDir dir;
  const std::string text = make_version_1(dir / "a.db", 40);
  const std::string before = bytes_of(dir / "a.db");
  Database database = Database::open_read_only(dir / "a.db");
  EXPECT_TRUE(database.verify().sound());
  EXPECT_TRUE(dump_of(database) == text);
  EXPECT_EQ(database.stats().records, 40);
  EXPECT_EQ(database.stats().schema_version, 1);
  EXPECT_TRUE(database.best({}).has_value());
  EXPECT_THAT(database.all({}), SizeIs(40));
  EXPECT_EQ(database.note(), "");
  EXPECT_THAT(error_of([&] { database.append(test::timed("w", "d", 1)); }).message,
              HasSubstr("opened read-only"));
  EXPECT_TRUE(bytes_of(dir / "a.db") == before);
}

TEST(Migration, BringsVersion1ForwardAndKeepsACopyOfWhatItWas) {
  TempDir dir;
  const std::string text = make_version_1(dir / "a.db", 40);
  std::string note;
  {
    Database database = Database::open(dir / "a.db");
    note = database.note();
    EXPECT_TRUE(dump_of(database) == text);
    EXPECT_TRUE(database.verify().sound());
    EXPECT_EQ(database.stats().schema_version, 2);
    Record record = test::timed("w", "d", 1);
    std::get<Timing>(record.outcome).resources.advisories = "(C7510) wgmma serialised";
    const std::string id = database.append(record).id;
    EXPECT_EQ(std::get<Timing>(database.find(id)->outcome).resources.advisories, "(C7510) wgmma serialised");
    EXPECT_TRUE(database.verify().sound());
  }
  EXPECT_THAT(note, HasSubstr("from schema version 1 to 2"));
  EXPECT_THAT(note, HasSubstr("a.db.v1.bak"));
  const Database copy = Database::open_read_only(dir / "a.db.v1.bak");
  EXPECT_EQ(copy.stats().schema_version, 1);
  EXPECT_TRUE(dump_of(copy) == text);
  EXPECT_EQ(Database::open(dir / "a.db").note(), "");
  EXPECT_FALSE(std::filesystem::exists(dir / "a.db.v1.bak.2"));
  EXPECT_FALSE(std::filesystem::exists(dir / "a.db.v1.bak.part"));
}

TEST(Migration, NeverOverwritesAnEarlierCopy) {
  TempDir dir;
  make_version_1(dir / "a.db", 3);
  test::write_bytes(dir / "a.db.v1.bak", "precious");
  EXPECT_THAT(Database::open(dir / "a.db").note(), HasSubstr("a.db.v1.bak.2"));
  EXPECT_EQ(bytes_of(dir / "a.db.v1.bak"), "precious");
  EXPECT_EQ(Database::open_read_only(dir / "a.db.v1.bak.2").stats().records, 3);
}

TEST(Migration, ChangesNothingWhereTheCopyCannotBeMade) {
  TempDir dir;
  const std::string text = make_version_1(dir / "a.db", 3);
  std::filesystem::create_directories(dir / "a.db.v1.bak.part" / "in the way");
  EXPECT_THAT(error_of([&] { Database::open(dir / "a.db"); }).message, HasSubstr("a.db.v1.bak.part"));
  const Database database = Database::open_read_only(dir / "a.db");
  EXPECT_EQ(database.stats().schema_version, 1);
  EXPECT_TRUE(dump_of(database) == text);
}

TEST(Migration, RowsOfBothVersionsAreTheSameRowsToMergeAndSalvage) {
  TempDir dir;
  const std::string text = make_version_1(dir / "old.db", 40);
  std::vector<Database> old;
  old.push_back(Database::open_read_only(dir / "old.db"));
  Database fresh = Database::open(dir / "new.db");
  EXPECT_EQ(fresh.merge(old)[0].trials.added, 40);
  EXPECT_EQ(fresh.merge(old)[0].trials.present, 40);
  EXPECT_TRUE(dump_of(fresh) == text);
  { Database::open(dir / "old.db").append(test::timed("w", "d", 1)); }  // rows of both versions in one table
  EXPECT_EQ(salvage(dir / "old.db", dir / "saved.db").trials.added, 41);
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
