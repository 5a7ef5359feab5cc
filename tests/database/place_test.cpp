// Tests of locations where a database may not lie or cannot be written, and of reading in a read-only
// directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "database/database.h"
#include "database/file_system.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::bytes_of;
using test::error_of;
using test::in_child;
using test::kEnvironment;
using test::kUser;
using test::TempDir;
using test::timed;
using testing::ElementsAre;
using testing::HasSubstr;

// Root may write everywhere, so a read-only folder is tried as a user who may not.
void become_nobody() {
  if (::geteuid() != 0) return;
  if (::setegid(65534) != 0 || ::seteuid(65534) != 0) throw_environment("cannot become nobody");
}
void require(bool condition, const std::string& what) {
  if (!condition) throw_user("not so: {}", what);
}
void require_error(const std::function<void()>& action, int kind, const std::string& part) {
  const auto caught = error_of(action);
  require(caught.kind == kind && caught.message.find(part) != std::string::npos,
          part + " in: " + caught.message);
}

// Tests that the rows of a log whose file went away are saved, whatever took its name.
void expect_rescue(const std::function<void(const std::filesystem::path&)>& take_away) {
  const TempDir dir;
  const std::filesystem::path path = dir.path() / "log.db", saved = path.string() + ".rescued";
  Database database = Database::open(path);
  database.append(timed("w", "d", 1));
  database.expect_in_place();
  take_away(path);
  const auto caught = error_of([&] { database.append(timed("w", "d", 2)); });
  EXPECT_EQ(caught.kind, kEnvironment);
  EXPECT_THAT(caught.message, HasSubstr("was removed, renamed or replaced while rows were written to it"));
  EXPECT_THAT(caught.message, HasSubstr(saved.string()));
  EXPECT_EQ(Database::open_read_only(saved).all({}).size(), 2u);
  EXPECT_EQ(error_of([&] { database.expect_in_place(); }).kind, kEnvironment);
  EXPECT_TRUE(std::filesystem::exists(saved.string() + ".2"));
}

TEST(Place, RowsOfALogThatGoesAwayAreSaved) {
  namespace fs = std::filesystem;
  expect_rescue([](const fs::path& path) { fs::remove(path); });
  expect_rescue([](const fs::path& path) { fs::rename(path, path.string() + ".old"); });
  expect_rescue([](const fs::path& path) {
    {
      Database::open(path.string() + ".other").append(timed("other", "d", 3));
    }
    fs::rename(path.string() + ".other", path);
  });
  Database::open(":memory:").expect_in_place();
}

TEST(Place, KnowsNetworkFileSystemsByTheirMagic) {
  EXPECT_EQ(network_file_system(0x6969), "NFS");
  EXPECT_EQ(network_file_system(0xFF534D42), "CIFS");
  // statfs's f_type is signed on some platforms, and then this magic arrives as a negative number.
  EXPECT_EQ(network_file_system(static_cast<std::uint64_t>(static_cast<std::int32_t>(0xFF534D42))), "CIFS");
  EXPECT_EQ(network_file_system(0x65735546), "FUSE");
  EXPECT_EQ(network_file_system(0x01021997), "9p");
  EXPECT_EQ(network_file_system(0x0BD00BD0), "Lustre");
  for (const std::uint64_t local : {0xEF53u, 0x58465342u, 0x9123683Eu, 0x01021994u, 0x794C7630u, 0x2FC12FC1u})
    EXPECT_EQ(network_file_system(local), "") << std::hex << local;
}

TEST(Place, RefusesADirectoryAndAMissingOne) {
  TempDir dir;
  auto caught = error_of([&] { Database::open(dir.path()); });
  EXPECT_EQ(caught.kind, kUser);
  EXPECT_THAT(caught.message, HasSubstr("is a directory"));
  caught = error_of([&] { Database::open(dir / "no/such/a.db"); });
  EXPECT_EQ(caught.kind, kUser);
  EXPECT_THAT(caught.message, HasSubstr("does not exist"));
  EXPECT_FALSE(std::filesystem::exists(dir / "no"));
}

TEST(Place, ReadsOnlyWhatIsThere) {
  TempDir dir;
  auto caught = error_of([&] { Database::open_read_only(dir / "a.db"); });
  EXPECT_EQ(caught.kind, kUser);
  EXPECT_THAT(caught.message, HasSubstr("there is no database"));
  EXPECT_FALSE(std::filesystem::exists(dir / "a.db"));
  std::ofstream(dir / "empty.db").flush();
  EXPECT_THAT(error_of([&] { Database::open_read_only(dir / "empty.db"); }).message, HasSubstr("is empty"));
  Database::open(dir / "empty.db").append(timed("w", "d", 1));  // an empty file is as good as none
}

TEST(Place, WritesNothingThroughAReadOnlyDatabase) {
  TempDir dir;
  Database::open(dir / "a.db").append(timed("w", "d", 1));
  Database database = Database::open_read_only(dir / "a.db");
  const auto caught = error_of([&] { database.append(timed("w", "d", 2)); });
  EXPECT_EQ(caught.kind, kEnvironment);
  EXPECT_THAT(caught.message, HasSubstr("read-only"));
  EXPECT_EQ(database.stats().records, 1);
}

TEST(Place, SaysThatAFileCannotBeWritten) {
  TempDir dir;
  const auto path = dir / "a.db";
  Database::open(path).append(timed("w", "d", 1));
  ::chmod(dir.path().c_str(), 0777);
  ::chmod(path.c_str(), 0444);
  EXPECT_EQ(in_child([&] {
              become_nobody();
              require_error([&] { Database::open(path); }, kEnvironment, "read-only");
              require(Database::open_read_only(path).stats().records == 1, "one record is read");
            }),
            0);
  ::chmod(path.c_str(), 0000);
  EXPECT_EQ(in_child([&] {
              become_nobody();
              require_error([&] { Database::open_read_only(path); }, kEnvironment, "Permission denied");
              require_error([&] { Database::open(path); }, kEnvironment, "Permission denied");
            }),
            0);
}

TEST(Place, ReadsInADirectoryThatCannotBeWritten) {
  TempDir dir;
  const auto path = dir / "a file?immutable=0&mode=rw#%41.db";  // a name that must not be read as a URI
  Database::open(path).append(timed("w", "d", 1));
  ASSERT_FALSE(std::filesystem::exists(path.string() + "-wal"));
  ::chmod(path.c_str(), 0444);
  ::chmod(dir.path().c_str(), 0555);
  EXPECT_EQ(in_child([&] {
              become_nobody();
              require(read_only_mode(path) == sqlite::Mode::kImmutable, "it is read as immutable");
              const Database database = Database::open_read_only(path);
              require(database.all({}).size() == 1, "one record is read");
              require_error([&] { Database::open(path); }, kEnvironment, "read-only");
              require_error([&] { Database::open(dir / "new.db"); }, kEnvironment, "");
            }),
            0);
}

/// Writes a row in a process that dies: the row stays in the write-ahead log.
void write_and_die(const std::filesystem::path& path) {
  EXPECT_EQ(in_child([&] {
              Database database = Database::open(path);
              database.append(timed("w", "d", 1));
              ::_exit(0);
            }),
            0);
}

TEST(Place, DoesNotOverlookRowsThatAreStillInTheLogOfAReadOnlyDirectory) {
  TempDir dir;
  const auto path = dir / "a.db";
  write_and_die(path);
  ASSERT_GT(std::filesystem::file_size(dir / "a.db-wal"), 0u);
  std::filesystem::remove(dir / "a.db-shm");
  for (const char* name : {"a.db", "a.db-wal"}) ::chmod((dir / name).c_str(), 0444);
  ::chmod(dir.path().c_str(), 0555);
  EXPECT_EQ(in_child([&] {
              become_nobody();
              require_error([&] { Database::open_read_only(path); }, kEnvironment, "a.db-wal");
            }),
            0);
  ::chmod(dir.path().c_str(), 0755);
  for (const char* name : {"a.db", "a.db-wal"}) ::chmod((dir / name).c_str(), 0644);
  EXPECT_EQ(Database::open(path).stats().records, 1);
}

std::vector<std::string> names_in(const TempDir& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// Reads as a reading command does: in a child process, since locks belong to a process.
void read_in_child(const std::filesystem::path& path, std::int64_t rows) {
  EXPECT_EQ(in_child([&] {
              const Database database = Database::open_read_only(path);
              require(database.stats().records == rows, "all rows are read");
              require(database.verify().sound(), "they are sound");
            }),
            0);
}

// tests/cli/db_test.cpp has what happens beside writers and other readers.
TEST(Reading, LeavesNothingBehindAndTheFileAsItIs) {
  TempDir dir;
  const auto path = dir / "a.db";
  Database::open(path).append(timed("w", "d", 1));
  const std::string bytes = bytes_of(path);
  const auto written = std::filesystem::last_write_time(path);
  for (int i = 0; i < 2; ++i) {
    read_in_child(path, 1);
    EXPECT_THAT(names_in(dir), ElementsAre("a.db"));
    std::ofstream(path.string() + "-wal").flush();  // of an earlier version, or of a reader that was killed
  }
  EXPECT_TRUE(bytes_of(path) == bytes);
  EXPECT_EQ(std::filesystem::last_write_time(path), written);
}

TEST(Reading, LeavesWhatAKilledWriterLeft) {
  TempDir dir;
  const auto path = dir / "a.db";
  write_and_die(path);
  const std::vector<std::string> names = names_in(dir);
  EXPECT_THAT(names, ElementsAre("a.db", "a.db-shm", "a.db-wal"));
  const std::string bytes = bytes_of(path), log = bytes_of(dir / "a.db-wal");
  read_in_child(path, 1);
  EXPECT_EQ(names_in(dir), names);
  EXPECT_TRUE(bytes_of(path) == bytes);
  EXPECT_TRUE(bytes_of(dir / "a.db-wal") == log);
  Database::open(path).append(timed("w", "d", 2));
  EXPECT_THAT(names_in(dir), ElementsAre("a.db"));
  read_in_child(path, 2);
}

}  // namespace
}  // namespace lehr
