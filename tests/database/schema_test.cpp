// Whose file it is, which version it has, and the way forward from an older one.
#include "database/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
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

// An older layout of a made-up history, and the steps that follow it.
const Migration kOld = {1, "CREATE TABLE row (name TEXT NOT NULL) STRICT"};
const Migration kColumn = {2,
                           "ALTER TABLE row ADD COLUMN length INTEGER; UPDATE row SET length = length(name)"};
const Migration kIndex = {3, "CREATE INDEX by_length ON row (length)"};

TEST(Schema, BringsAnOlderFileForwardStepByStepAndKeepsItsRows) {
  TempDir dir;
  const auto path = dir / "old.db";
  {
    const Connection old(path, Mode::kReadWrite);
    migrate(old, std::vector{kOld});
    old.execute("INSERT INTO row VALUES ('four')");
  }
  const Connection connection(path, Mode::kReadWrite);
  const std::vector<Migration> steps = {kOld, kColumn, kIndex};
  EXPECT_EQ(schema_version(connection, steps), 1);
  migrate(connection, steps);
  EXPECT_EQ(schema_version(connection, steps), 3);
  EXPECT_EQ(connection.query_int("SELECT length FROM row WHERE name='four'"), 4);
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM sqlite_schema WHERE name='by_length'"), 1);
  migrate(connection, steps);  // nothing to do
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM row"), 1);
}

TEST(Schema, LeavesTheFileAsItWasWhenAStepFails) {
  TempDir dir;
  const Connection connection(dir / "old.db", Mode::kReadWrite);
  migrate(connection, std::vector{kOld});
  const Migration broken = {3, "CREATE TABLE other (x); INSERT INTO nowhere VALUES (1)"};
  EXPECT_THROW(migrate(connection, std::vector{kOld, kColumn, broken}), Error);
  EXPECT_EQ(connection.query_int("PRAGMA user_version"), 1);
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM sqlite_schema"), 1);
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM pragma_table_info('row')"), 1);
}

TEST(Schema, HasOneStepPerVersionCountedFromOne) {
  int expected = 1;
  for (const Migration& step : migrations()) EXPECT_EQ(step.version, expected++);
}

TEST(Schema, BringsAFileForwardThatWasLeftBeforeItsFirstStep) {
  TempDir dir;
  const auto path = dir / "unfinished.db";
  {
    const Connection connection(path, Mode::kReadWrite);
    connection.execute(fmt::format("PRAGMA application_id={}", kApplicationId));
  }
  Database database = Database::open(path);
  database.append(test::timed("w", "d", 5));
  EXPECT_EQ(database.stats().records, 1);
  EXPECT_EQ(database.stats().schema_version, migrations().back().version);
}

TEST(Schema, RefusesANewerFileNamingBothVersions) {
  TempDir dir;
  const auto path = dir / "newer.db";
  Database::open(path);
  Connection(path, Mode::kReadWrite).execute("PRAGMA user_version=7");
  for (const bool read_only : {false, true}) {
    const auto caught = error_of([&] { read_only ? Database::open_read_only(path) : Database::open(path); });
    EXPECT_EQ(caught.kind, kUser);
    EXPECT_THAT(caught.message, HasSubstr("newer.db"));
    EXPECT_THAT(caught.message, HasSubstr("version 7"));
    EXPECT_THAT(caught.message, HasSubstr("up to 6"));
  }
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
