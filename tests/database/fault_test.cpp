// Tests of a log in trouble: full disks, locks, damage, several writers, writers that are killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <set>
#include <thread>

#include "base/error.h"
#include "database/database.h"
#include "database/sqlite.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::error_of;
using test::in_child;
using test::kEnvironment;
using test::TempDir;
using test::timed;
using testing::HasSubstr;

constexpr int kSkipped = 77;

// Appends until it fails. Requires that the failure is about space, and that every acknowledged row is there.
void fill_and_look(const std::filesystem::path& path, const std::function<void()>& make_room) {
  std::set<std::string> acknowledged;
  {
    Database database = Database::open(path);
    Record record = timed("w", "d", 1);
    record.tool_version = std::string(2000, 'x');
    const auto caught = error_of([&] {
      for (int i = 0; i < 5000; ++i) acknowledged.insert(database.append(record).id);
    });
    if (caught.kind != kEnvironment || caught.message.find("no space left") == std::string::npos)
      throw_user("expected a word about space, got: {}", caught.message);
    if (acknowledged.empty()) throw_user("not one row fitted");
    // The same handle goes on once there is room again.
    make_room();
    acknowledged.insert(database.append(timed("w", "d", 2)).id);
  }
  const Database database = Database::open_read_only(path);
  std::set<std::string> found;
  for (const Record& record : database.all({})) found.insert(record.id);
  for (const std::string& id : acknowledged)
    if (!found.contains(id)) throw_user("row {} was acknowledged and is gone", id);
  if (!database.verify().sound()) throw_user("the file is damaged");
}

TEST(Fault, AFileSizeLimitIsReportedAsNoSpaceAndLosesNothing) {
  TempDir dir;
  EXPECT_EQ(in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              rlimit limit = {200'000, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              fill_and_look(dir / "a.db", [] {
                rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
                ::setrlimit(RLIMIT_FSIZE, &none);
              });
            }),
            0);
}

TEST(Fault, AFullDiskIsReportedAsNoSpaceAndLosesNothing) {
  TempDir dir;
  const int status = in_child([&] {
    // A file system of our own, in a namespace of our own: needs root or unprivileged user namespaces.
    if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(kSkipped);
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) ::_exit(kSkipped);
    if (::mount("tmpfs", dir.path().c_str(), "tmpfs", 0, "size=512k") != 0) ::_exit(kSkipped);
    std::ofstream(dir / "ballast") << std::string(128 * 1024, 'b');
    fill_and_look(dir / "a.db", [&] { std::filesystem::remove(dir / "ballast"); });
  });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped)
    GTEST_SKIP() << "no right to mount a small tmpfs here";
  EXPECT_EQ(status, 0);
}

TEST(Fault, AFullFileIsReportedAsNoSpace) {
  const sqlite::Connection connection(":memory:", sqlite::Mode::kReadWrite);
  connection.execute("CREATE TABLE t (x); PRAGMA max_page_count=3");
  const auto caught = error_of([&] {
    sqlite::Transaction transaction(connection);
    for (int i = 0; i < 100; ++i) connection.execute("INSERT INTO t VALUES (zeroblob(1000))");
  });
  EXPECT_EQ(caught.kind, kEnvironment);
  EXPECT_THAT(caught.message, HasSubstr("no space left"));
  EXPECT_EQ(connection.query_int("SELECT count(*) FROM t"), 0);
}

TEST(Fault, ALockedFileIsNamed) {
  TempDir dir;
  const auto path = dir / "a.db";
  Database::open(path);
  const sqlite::Connection holder(path, sqlite::Mode::kReadWrite);
  const sqlite::Connection other(path, sqlite::Mode::kReadWrite);
  other.execute("PRAGMA busy_timeout=20");
  const sqlite::Transaction held(holder);
  const auto caught = error_of([&] { sqlite::Transaction blocked(other); });
  EXPECT_EQ(caught.kind, kEnvironment);
  EXPECT_THAT(caught.message, HasSubstr("locked"));
  EXPECT_THAT(caught.message, HasSubstr(path.string()));
}

TEST(Fault, ADamagedFileIsNamedAndNeverCrashesTheReader) {
  const std::uint64_t seed = 31337;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  TempDir dir;
  const auto path = dir / "a.db";
  {
    Database database = Database::open(path);
    Rng records(1);
    test::add_trials(database, 200, [&](int) { return test::random_record(records); });
  }
  std::ifstream in(path, std::ios::binary);
  const std::string sound(std::istreambuf_iterator<char>(in), {});
  int refused = 0, noticed = 0;
  for (int round = 0; round < 60; ++round) {
    std::string bytes = sound;
    if (round % 3 == 0) bytes.resize(rng.below(bytes.size()));
    for (int i = 0; i < 40 && !bytes.empty(); ++i)
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      const Database database = Database::open_read_only(path);
      database.best({});
      database.stats();
      noticed += database.verify().sound() ? 0 : 1;
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::kInternal) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("a.db"));
      ++refused;
    }
  }
  EXPECT_GT(refused + noticed, 55) << refused << " refused, " << noticed << " noticed";
}

TEST(Fault, EightProcessesCreateAndFillOneFileAtOnce) {
  TempDir dir;
  const auto path = dir / "a.db";
  constexpr int kRows = 60;
  std::array<pid_t, 8> children = {};
  for (pid_t& child : children) {
    child = ::fork();
    if (child != 0) continue;
    int code = 1;
    try {
      Database database = Database::open(path);
      for (int i = 0; i < kRows; ++i) database.append(timed("w", "d", 1 + i));
      code = 0;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(code);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Database database = Database::open_read_only(path);
  EXPECT_EQ(database.stats().records, 8 * kRows);
  EXPECT_TRUE(database.verify().sound());
}

TEST(Fault, AKilledWriterLosesNoAcknowledgedRow) {
  const std::uint64_t seed = 5;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  TempDir dir;
  const auto path = dir / "a.db";
  std::set<std::string> acknowledged;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        Database database = Database::open(path);
        for (;;) {
          const std::string id = database.append(timed("w", "d", 1)).id;
          if (::write(ends[1], id.data(), id.size()) != static_cast<ssize_t>(id.size())) break;
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
      }
      ::_exit(1);
    }
    ::close(ends[1]);
    const auto read_id = [&] {
      std::array<char, 32> id = {};
      if (::read(ends[0], id.data(), id.size()) != static_cast<ssize_t>(id.size())) return false;
      acknowledged.emplace(id.data(), id.size());
      return true;
    };
    // The moment is counted in rows and not in time, so a slow machine is tried as hard as a fast one.
    for (std::uint64_t rows = rng.below(12); rows > 0; --rows)
      ASSERT_TRUE(read_id()) << "the writer ended by itself";
    std::this_thread::sleep_for(std::chrono::microseconds(rng.below(2000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    while (read_id()) continue;
    ::close(ends[0]);
    Database database = Database::open(path);
    std::set<std::string> found;
    for (const Record& record : database.all({})) found.insert(record.id);
    for (const std::string& gone : acknowledged) ASSERT_TRUE(found.contains(gone)) << "round " << round;
    ASSERT_TRUE(database.verify().sound());
  }
  EXPECT_GT(acknowledged.size(), 50u) << "the drill wrote too little to mean anything";
}

}  // namespace
}  // namespace lehr
