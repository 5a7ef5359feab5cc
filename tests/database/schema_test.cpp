// Tests of whose file a log is, which version it has, and whether its tables are ours.
#include "database/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/hash.h"
#include "database/database.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using sqlite::Connection;
using sqlite::Mode;
using test::bytes_of;
using test::error_of;
using test::kUser;
using test::TempDir;
using testing::HasSubstr;

TEST(Schema, RefusesEveryOtherVersionNamingBothAndLeavesTheFile) {
  TempDir dir;
  for (const int version : {0, 1, 6, 8, 700}) {
    const auto path = dir / "other.db";
    std::filesystem::remove(path);
    Database::open(path);
    Connection(path, Mode::kReadWrite).execute(fmt::format("PRAGMA user_version={}", version));
    const std::string before = bytes_of(path);
    for (const bool read_only : {false, true}) {
      const auto caught =
          error_of([&] { read_only ? Database::open_read_only(path) : Database::open(path); });
      EXPECT_EQ(caught.kind, kUser);
      EXPECT_THAT(caught.message, HasSubstr("other.db' has schema version " + std::to_string(version)));
      EXPECT_THAT(caught.message, HasSubstr("version 7 alone"));
    }
    EXPECT_TRUE(bytes_of(path) == before) << version;
  }
}

// The file's layout is made from the structs' descriptions. A change of one raises kSchemaVersion and writes
// the new hash here.
TEST(Schema, IsTheOneOfItsVersion) {
  const Connection connection(":memory:", Mode::kReadWrite);
  make_log(connection);
  std::string text;
  sqlite::Statement tables =
      connection.prepare("SELECT sql FROM sqlite_schema WHERE sql <> '' ORDER BY name");
  while (tables.step()) text += tables.get<std::string>(0) + "\n";
  EXPECT_EQ(std::pair(kSchemaVersion, stable_hash(text)),
            std::pair(std::int64_t{7}, std::uint64_t{18318845856311003701u}))
      << text;
}

TEST(Schema, RefusesAFileWithATriggerAViewOrAnotherTableInPlaceOfOurs) {
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
  // The tables that ANALYZE leaves are harmless.
  const auto path = dir / "b.db";
  Database::open(path).append(test::timed("w", "d", 1));
  sqlite::Connection(path, sqlite::Mode::kReadWrite).execute("ANALYZE");
  EXPECT_EQ(Database::open(path).stats().records, 1);
}

TEST(Schema, RefusesAnotherProgramsFileAndLeavesEveryByteOfIt) {
  TempDir dir;
  for (const char* make : {"CREATE TABLE t (x); INSERT INTO t VALUES (1)",
                           "PRAGMA application_id=12345; CREATE TABLE trial (x)", "PRAGMA user_version=3"}) {
    const auto path = dir / "foreign.db";
    std::filesystem::remove(path);
    Connection(path, Mode::kReadWrite).execute(make);
    const std::string before = bytes_of(path);
    for (const bool read_only : {false, true}) {
      const auto caught =
          error_of([&] { read_only ? Database::open_read_only(path) : Database::open(path); });
      EXPECT_EQ(caught.kind, kUser) << make;
      EXPECT_THAT(caught.message, HasSubstr("another program's"));
      EXPECT_THAT(caught.message, HasSubstr("foreign.db"));
    }
    EXPECT_TRUE(bytes_of(path) == before) << make;
    EXPECT_FALSE(std::filesystem::exists(dir / "foreign.db-wal"));
  }
}

TEST(Schema, RefusesATextFileOfAnyLengthAndLeavesIt) {
  TempDir dir;
  const auto path = dir / "notes.txt";
  for (const std::size_t length : {1u, 20u, 100u, 511u, 512u, 5000u, 70000u}) {
    const std::string text(length, 'n');
    std::ofstream(path) << text;
    for (const bool read_only : {false, true}) {
      const auto caught =
          error_of([&] { read_only ? Database::open_read_only(path) : Database::open(path); });
      EXPECT_EQ(caught.kind, kUser) << length;
      EXPECT_THAT(caught.message, HasSubstr("no SQLite file"));
    }
    EXPECT_TRUE(bytes_of(path) == text) << length;
  }
}

}  // namespace
}  // namespace lehr
