// Tests every operation of a log's life on a disk that fails at it: nothing acknowledged is lost, nothing is
// damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "database/database.h"
#include "tests/database/faulty_disk.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::FaultyDisk;
using test::TempDir;
using test::timed;
using testing::HasSubstr;

struct Life {
  std::set<std::string> acknowledged;
  std::string error;  // of the first failure
};

// Opens or makes a log, appends one row after the other, goes on after a failure as the next run of a tuner
// would, and merges the log in file `other` at the end.
Life live(const std::filesystem::path& path, const std::filesystem::path& other) {
  Life life;
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      Database database = Database::open(path);
      for (int i = 0; i < 5; ++i) {
        Record record = timed("w", "d", 1 + i);
        record.tool_version.assign(3000, 'v');  // about a page each
        life.acknowledged.insert(database.append(record).id);
      }
      database.append(test::verdict("w", "d", "x"));
      database.merge({other});
      for (const Record& record : Database::open_read_only(other).all({}))
        life.acknowledged.insert(record.id);
      return life;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kEnvironment) throw;
      if (life.error.empty()) life.error = error.what();
    }
  }
  return life;
}

/// Writes a log of twenty trials, and returns its path.
std::filesystem::path other_in(const TempDir& dir) {
  Database log = Database::open(dir / "other.db");
  for (int i = 0; i < 20; ++i) log.append(timed("v", "d", 1 + i));
  return dir / "other.db";
}

void expect_whole(const std::filesystem::path& path, const Life& life, std::int64_t k) {
  const Database database = Database::open(path);
  std::set<std::string> found;
  for (const Record& record : database.all({})) found.insert(record.id);
  for (const std::string& id : life.acknowledged) ASSERT_TRUE(found.contains(id)) << "operation " << k;
  const Verification verified = database.verify();
  ASSERT_TRUE(verified.sound()) << "operation " << k;
  // A merge is there wholly or not at all.
  const std::int64_t merged = static_cast<std::int64_t>(database.all({"v", "", "", ""}).size());
  ASSERT_EQ(merged % 20, 0) << "operation " << k;
}

TEST(DiskDrill, AnIoErrorAtAnyOperationLosesNothing) {
  const TempDir others;
  const std::filesystem::path other = other_in(others);
  FaultyDisk disk;
  std::int64_t k = 1;
  for (;; ++k) {
    TempDir dir;
    disk.fail_at(k, FaultyDisk::Fault::kIoError);
    const Life life = live(dir / "a.db", other);
    const bool struck = disk.struck();
    disk.heal();
    if (!life.error.empty()) {
      ASSERT_THAT(life.error, HasSubstr("a.db")) << "operation " << k;
    }
    ASSERT_GE(life.acknowledged.size(), 25u) << "the second attempt must succeed, operation " << k;
    expect_whole(dir / "a.db", life, k);
    if (!struck) break;
  }
  EXPECT_GT(k, 40) << "the drill met too few operations to mean anything";
}

TEST(DiskDrill, AFullDiskAtAnyOperationIsSaidAndLosesNothing) {
  const TempDir others;
  const std::filesystem::path other = other_in(others);
  FaultyDisk disk;
  std::int64_t k = 1;
  int said = 0;
  for (;; ++k) {
    TempDir dir;
    disk.fail_at(k, FaultyDisk::Fault::kNoSpace);
    const Life life = live(dir / "a.db", other);
    const bool struck = disk.struck();
    disk.heal();
    if (!life.error.empty()) {
      ASSERT_THAT(life.error, HasSubstr("no space left for the database")) << "operation " << k;
      ++said;
    }
    expect_whole(dir / "a.db", life, k);
    if (!struck) break;
  }
  EXPECT_GT(k, 40);
  EXPECT_GT(said, 30);
}

TEST(DiskDrill, APowerCutAtAnyOperationLosesNothingThatWasAcknowledged) {
  const std::uint64_t seed = 2024;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  const TempDir others;
  const std::filesystem::path other = other_in(others);
  FaultyDisk disk;
  for (int round = 0; round < 3; ++round) {
    std::int64_t k = 1;
    for (;; ++k) {
      TempDir dir;
      disk.fail_at(k, FaultyDisk::Fault::kPowerCut);
      Life life;
      const bool finished = [&] {
        life = live(dir / "a.db", other);
        return !disk.struck();
      }();
      disk.restart(rng);
      expect_whole(dir / "a.db", life, k);
      if (finished) break;
    }
    EXPECT_GT(k, 40);
  }
}

}  // namespace
}  // namespace lehr
