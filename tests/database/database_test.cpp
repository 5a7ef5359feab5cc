// The log as its users see it: order, filters, winners, verdicts, damage.
#include "database/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "database/sqlite.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::bytes_read;
using test::describe;
using test::error_of;
using test::failed;
using test::random_record;
using test::TempDir;
using test::timed;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

// Changes stored rows behind the database's back.
void tamper(const std::filesystem::path& path, const std::string& sql) {
  sqlite::Connection(path, sqlite::Mode::kReadWrite).execute(sql);
}

double time_of(const std::optional<Record>& record) {
  return record ? std::get<Timing>(record->outcome).time_us : 0;
}

TEST(Database, GivesBackWhatWasAppendedInOrderOfAppending) {
  const std::uint64_t seed = 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  TempDir dir;
  std::vector<Record> expected;
  {
    Database database = Database::open(dir / "a.db");
    for (int i = 0; i < 300; ++i) expected.push_back(database.append(random_record(rng)));
  }
  for (const bool read_only : {false, true}) {
    const Database database =
        read_only ? Database::open_read_only(dir / "a.db") : Database::open(dir / "a.db");
    const std::vector<Record> got = database.all({});
    ASSERT_THAT(got, SizeIs(expected.size()));
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(describe(got[i]), describe(expected[i])) << i;
    EXPECT_EQ(describe(*database.find(expected[7].id)), describe(expected[7]));
    EXPECT_TRUE(database.verify().sound());
  }
}

TEST(Database, GivesEachRecordItsOwnIdAndATime) {
  Database database = Database::open(":memory:");
  std::set<std::string> ids;
  for (int i = 0; i < 200; ++i) {
    const Record stored = database.append(timed("w", "d", 1));
    EXPECT_THAT(stored.id, testing::MatchesRegex("[0-9a-f]{32}"));
    EXPECT_GT(stored.created_unix_ms, 1'600'000'000'000);
    ids.insert(stored.id);
  }
  EXPECT_THAT(ids, SizeIs(200));
}

TEST(Database, TakesTheSameRecordOnceAndRefusesAnotherUnderItsId) {
  Database database = Database::open(":memory:");
  const Record stored = database.append(timed("w", "d", 1));
  EXPECT_EQ(describe(database.append(stored)), describe(stored));
  Record changed = stored;
  changed.seed = 5;
  EXPECT_THAT(error_of([&] { database.append(changed); }).message, HasSubstr(stored.id));
  EXPECT_THAT(database.all({}), SizeIs(1));
}

TEST(Database, AnswersEveryFilterLikeALoopOverAllRecords) {
  const std::uint64_t seed = 99;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  Database database = Database::open(":memory:");
  const std::vector<std::string> words = {"", "a", "b", "c"};
  std::vector<Record> records;
  for (int i = 0; i < 400; ++i) {
    Record record = random_record(rng);
    record.workload = words[1 + rng.below(3)];
    record.device = words[rng.below(4)];
    records.push_back(database.append(record));
  }
  for (int i = 0; i < 256; ++i) {
    RecordFilter filter;
    filter.workload = words[i % 4];
    filter.device = words[i / 4 % 4];
    filter.target = std::vector<std::string>{"", "cpu", "cuda", "none"}[i / 16 % 4];
    filter.family = std::vector<std::string>{"", "family0", "family2", "none"}[i / 64];
    std::vector<std::string> expected;
    double best = 0;
    for (const Record& record : records) {
      const auto fits = [](const std::string& want, const std::string& got) {
        return want.empty() || want == got;
      };
      if (!fits(filter.workload, record.workload) || !fits(filter.device, record.device) ||
          !fits(filter.target, record.target) || !fits(filter.family, record.config.family))
        continue;
      expected.push_back(record.id);
      if (const auto* timing = std::get_if<Timing>(&record.outcome))
        best = best == 0 ? timing->time_us : std::min(best, timing->time_us);
    }
    std::vector<std::string> got;
    for (const Record& record : database.all(filter)) got.push_back(record.id);
    EXPECT_EQ(got, expected) << i;
    EXPECT_EQ(time_of(database.best(filter)), best) << i;
  }
}

TEST(Database, FindsTheBestWithoutReadingEveryRow) {
  const TempDir dir;
  {
    Database log = Database::open(dir / "log.db");
    test::add_trials(log, 2000, [](int i) {
      const std::string workload = "w" + std::to_string(i / 2 % 5);
      if (i % 2 == 1) return failed(workload, "d", FailureKind::kCompile);
      Record record = timed(workload, "d", 1 + (i / 2 * 7919) % 5000);
      record.session = std::string(5000, 's');
      return record;
    });
  }
  const Database database = Database::open_read_only(dir / "log.db");
  const std::int64_t before = bytes_read();
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(database.best({"w" + std::to_string(i % 5), "", "", ""}).has_value());
  EXPECT_LT(bytes_read() - before, static_cast<std::int64_t>(std::filesystem::file_size(dir / "log.db")) / 4);
}

TEST(Database, NeverNamesAFailureTheBest) {
  Database database = Database::open(":memory:");
  database.append(failed("w", "d", FailureKind::kWrongResult));
  EXPECT_FALSE(database.best({}).has_value());
  database.append(timed("w", "d", 30));
  database.append(timed("w", "d", 20));
  database.append(failed("w", "d", FailureKind::kCrash));
  EXPECT_EQ(time_of(database.best({"w", "d", "", ""})), 20);
  EXPECT_FALSE(database.best({"other", "d", "", ""}).has_value());
}

TEST(Database, PassesOverADamagedWinnerAndCountsIt) {
  TempDir dir;
  const auto path = dir / "a.db";
  Database database = Database::open(path);
  const Record fast = database.append(timed("w", "d", 10));
  database.append(timed("w", "d", 20));
  database.append(timed("w", "d", 30));
  // One bit of the slowest row's time: 30 us become 3.75 us, which nobody measured.
  tamper(path, "UPDATE trial SET time_us = time_us / 8 WHERE time_us = 30");
  EXPECT_EQ(time_of(database.best({})), 10);
  tamper(path, "UPDATE trial SET config = replace(config, 'mr=8', 'mr=9') WHERE id = '" + fast.id + "'");
  EXPECT_EQ(time_of(database.best({})), 20);
  EXPECT_THAT(database.all({}), SizeIs(1));
  EXPECT_FALSE(database.find(fast.id).has_value());
  EXPECT_EQ(database.stats().tasks.at(0).best_us, 20);
  const Verification found = database.verify();
  EXPECT_EQ(found.records, 3);
  EXPECT_THAT(found.structure, IsEmpty());
  ASSERT_THAT(found.damaged, SizeIs(2));
  EXPECT_EQ(found.damaged[0].table, "trial");
  EXPECT_EQ(found.damaged[0].seq, 1);
  EXPECT_EQ(found.damaged[0].id, fast.id);
  EXPECT_EQ(found.damaged[0].problem, "its checksum is wrong");
  EXPECT_EQ(found.damaged[1].seq, 3);
}

TEST(Database, SeesOneFlippedByteInTheFileItself) {
  TempDir dir;
  const auto path = dir / "a.db";
  Record record = timed("w", "d", 10);
  record.picked_by = "a-word-that-is-easy-to-find";
  {
    Database::open(path).append(record);
  }
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::string bytes(std::filesystem::file_size(path), '\0');
  ASSERT_EQ(std::fread(bytes.data(), 1, bytes.size(), file), bytes.size());
  const std::size_t at = bytes.find(record.picked_by);
  ASSERT_NE(at, std::string::npos);
  std::fseek(file, static_cast<long>(at), SEEK_SET);
  std::fputc('A', file);
  std::fclose(file);
  const Database database = Database::open_read_only(path);
  EXPECT_FALSE(database.best({}).has_value());
  EXPECT_THAT(database.verify().damaged, SizeIs(1));
}

TEST(Database, CountsTasksFailuresAndSessions) {
  TempDir dir;
  Database database = Database::open(dir / "a.db");
  Record second = timed("w", "d", 7);
  second.session = "s2";
  second.created_unix_ms = 5;
  for (const Record& record :
       {timed("w", "d", 9), failed("w", "d", FailureKind::kCompile), second,
        failed("w", "d", FailureKind::kCompile), failed("v", "d", FailureKind::kTimeout)})
    database.append(record);
  const DatabaseStats stats = database.stats();
  EXPECT_EQ(stats.schema_version, 7);
  EXPECT_GT(stats.file_bytes, 4096);
  EXPECT_EQ(stats.sessions, 2);
  ASSERT_THAT(stats.tasks, SizeIs(2));
  const TaskStats& v = stats.tasks[0];
  const TaskStats& w = stats.tasks[1];
  EXPECT_EQ(v.workload, "v");
  EXPECT_EQ(v.timed, 0);
  EXPECT_EQ(v.best_us, 0);
  EXPECT_EQ(w.timed, 2);
  EXPECT_EQ(w.best_us, 7);
  EXPECT_EQ(w.first_unix_ms, 5);
  EXPECT_GT(w.last_unix_ms, 1'600'000'000'000);
  EXPECT_THAT(w.failed, ElementsAre(Pair(std::string(name_of(FailureKind::kCompile)), 2)));
}

TEST(Database, KeepsTheNewestVerdictOfEachTask) {
  TempDir dir;
  const auto path = dir / "a.db";
  Database database = Database::open(path);
  const std::string winner = database.append(timed("w", "d", 5)).id;
  StoredVerdict verdict;
  verdict.workload = "w";
  verdict.device = "d";
  verdict.record_id = winner;
  for (const double best : {5.0, 4.0}) {
    verdict.best.us = best;
    database.append(verdict);
  }
  verdict.device = "e";
  verdict.record_id = "gone";
  database.append(verdict);
  ASSERT_THAT(database.verdicts({}), SizeIs(2));
  EXPECT_EQ(database.verdicts({})[0].best.us, 4);
  EXPECT_GT(database.verdicts({})[0].created_unix_ms, 1'600'000'000'000);
  EXPECT_THAT(database.verdicts({"w", "d", "cpu", ""}), SizeIs(1));
  EXPECT_THAT(database.verdicts({"", "", "cuda", ""}), IsEmpty());
  EXPECT_THAT(database.verdicts({"v", "", "", ""}), IsEmpty());
  // A damaged verdict gives way to the one before it.
  tamper(path, "UPDATE verdict SET best_us = 1 WHERE best_us = 4 AND device = 'd'");
  EXPECT_EQ(database.verdicts({"w", "d", "", ""}).at(0).best.us, 5);
  ASSERT_THAT(database.verify().damaged, SizeIs(1));
  EXPECT_EQ(database.verify().damaged[0].table, "verdict");
}

TEST(Database, NamesItsTasksInOrderAndCountsWhatWasTimed) {
  Database database = Database::open(":memory:");
  EXPECT_TRUE(database.tasks({}).empty());
  for (const char* workload : {"b", "a", "b"})
    for (const char* device : {"y", "x"}) database.append(test::timed(workload, device, 2));
  database.append(test::failed("a", "x", FailureKind::kCompile));
  database.append(test::failed("c", "x", FailureKind::kCompile));
  std::string found;
  for (const RecordFilter& each : database.tasks({})) found += each.workload + each.device + " ";
  EXPECT_EQ(found, "ax ay bx by cx ");
  EXPECT_EQ(database.tasks({.workload = "b"}).size(), 2u);
  EXPECT_EQ(database.tasks({.device = "y"}).size(), 2u);
  EXPECT_TRUE(database.tasks({.target = "elsewhere"}).empty());
  EXPECT_EQ(database.timed({.workload = "b", .device = "y"}), 2);
  EXPECT_EQ(database.timed({.workload = "a"}), 2);
  EXPECT_EQ(database.timed({.workload = "c"}), 0);
}

TEST(Database, TellsTheNewestWayOfEachListAndVersion) {
  Database database = Database::open(":memory:");
  const auto found = [](std::int64_t list, std::int64_t algorithm, std::int64_t tried, const char* library) {
    StoredAlgorithm stored = test::stored_algorithm("s1", list);
    stored.algorithm = algorithm;
    stored.tried = tried;
    stored.library = library;
    return stored;
  };
  database.append(found(1, 2, 44, "cuDNN 9.19.0"));
  database.append(found(0, 1, 3, "cuDNN 9.19.0"));
  database.append(found(0, 8, 44, "cuDNN 9.19.0"));
  database.append(found(0, 4, 44, "cuDNN 9.10.0"));
  database.append(found(0, 4, 44, "cuDNN 9.10.0"));
  const std::vector<StoredAlgorithm> algorithms = database.algorithms("w", "d");
  ASSERT_EQ(algorithms.size(), 3U);
  const auto is = [&](std::size_t i, const char* library, std::int64_t list, std::int64_t algorithm) {
    return algorithms[i].library == library && algorithms[i].list == list &&
           algorithms[i].algorithm == algorithm;
  };
  EXPECT_TRUE(is(0, "cuDNN 9.10.0", 0, 4));
  EXPECT_TRUE(is(1, "cuDNN 9.19.0", 0, 8));
  EXPECT_TRUE(is(2, "cuDNN 9.19.0", 1, 2));
}

}  // namespace
}  // namespace lehr
