// Tests of what is saved of a damaged file.
#include "database/salvage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/error.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::bytes_of;
using test::bytes_read;
using test::dump_of;
using test::error_of;
using test::in_child;
using test::kUser;
using test::TempDir;
using test::timed;
using test::write_bytes;
using testing::HasSubstr;

constexpr int kNotFound = static_cast<int>(ErrorKind::kNotFound);

// Rows of all sizes: some run over several pages.
void fill(Database& database, int count) {
  Rng rng(4);
  for (int i = 0; i < count; ++i) {
    Record record = test::random_record(rng);
    if (auto* failure = std::get_if<Failure>(&record.outcome); failure && i % 7 == 0)
      failure->text = std::string(rng.below(30'000), 'f');
    const std::string id = database.append(record).id;
    if (i % 20 == 0) database.append(test::verdict("w", "d", id));
  }
}

std::set<std::string> lines_of(const Database& database) {
  std::istringstream text(dump_of(database));
  std::set<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.insert(line);
  return lines;
}

bool contains_all(const std::set<std::string>& all, const std::set<std::string>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

TEST(Salvage, OfASoundFileIsTheSameFile) {
  TempDir dir;
  std::string text;
  {
    Database database = Database::open(dir / "a.db");
    fill(database, 400);
    text = dump_of(database);
  }
  const std::string before = bytes_of(dir / "a.db");
  const AddedRows rows = salvage(dir / "a.db", dir / "b.db");
  EXPECT_EQ(rows.trials.added, 400);
  EXPECT_EQ(rows.verdicts.added, 20);
  EXPECT_EQ(rows.trials.refused, 0);
  EXPECT_TRUE(dump_of(Database::open_read_only(dir / "b.db")) == text);
  EXPECT_TRUE(bytes_of(dir / "a.db") == before);
}

TEST(Salvage, TakesTheRowsThatAreStillInTheLog) {
  TempDir dir;
  EXPECT_EQ(in_child([&] {
              Database database = Database::open(dir / "a.db");
              fill(database, 100);
              ::_exit(0);  // leaves the write-ahead log behind
            }),
            0);
  ASSERT_TRUE(std::filesystem::exists(dir / "a.db-wal"));
  EXPECT_EQ(salvage(dir / "a.db", dir / "b.db").trials.added, 100);
  // The file itself may even be gone, as long as its name is there.
  write_bytes(dir / "a.db", "");
  EXPECT_EQ(salvage(dir / "a.db", dir / "c.db").trials.added, 100);
}

TEST(Salvage, KeepsWhatATruncatedFileStillHas) {
  TempDir dir;
  std::set<std::string> all;
  {
    Database database = Database::open(dir / "a.db");
    fill(database, 400);
    all = lines_of(database);
  }
  const std::string whole = bytes_of(dir / "a.db");
  for (const double share : {0.9, 0.5, 0.2}) {
    write_bytes(dir / "torn.db",
                whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))));
    std::filesystem::remove(dir / "new.db");
    const AddedRows rows = salvage(dir / "torn.db", dir / "new.db");
    const Database saved = Database::open_read_only(dir / "new.db");
    EXPECT_TRUE(saved.verify().sound());
    EXPECT_TRUE(contains_all(all, lines_of(saved)));
    EXPECT_GT(rows.trials.added, share * 400 * 0.6) << "of what lies in front of the cut, most is saved";
    EXPECT_EQ(saved.stats().records, rows.trials.added);
  }
}

TEST(Salvage, LosesOnlyTheRowsOfTheDamagedPages) {
  TempDir dir;
  std::set<std::string> all;
  {
    Database database = Database::open(dir / "a.db");
    fill(database, 400);
    all = lines_of(database);
  }
  const std::string whole = bytes_of(dir / "a.db");
  const std::uint64_t seed = 8;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int round = 0; round < 20; ++round) {
    std::string bytes = whole;
    // The header with the page size and the table of tables, and three pages somewhere.
    std::fill(bytes.begin(), bytes.begin() + 4096, static_cast<char>(rng.below(256)));
    for (int i = 0; i < 3; ++i) {
      const std::size_t page = rng.below(bytes.size() / 4096) * 4096;
      for (std::size_t at = page; at < page + 4096; ++at) bytes[at] = static_cast<char>(rng.below(256));
    }
    write_bytes(dir / "torn.db", bytes);
    std::filesystem::remove(dir / "new.db");
    const AddedRows rows = salvage(dir / "torn.db", dir / "new.db");
    EXPECT_GE(rows.trials.added, 360) << round;
    const Database saved = Database::open_read_only(dir / "new.db");
    EXPECT_TRUE(contains_all(all, lines_of(saved))) << round;
  }
}

// Each row has a text of its own: where it is still in the file, the row is saved.
TEST(Salvage, KeepsEveryRowThatIsStillThere) {
  constexpr int kRows = 300;
  const TempDir dir;
  const auto mark = [](int row) { return "row " + std::to_string(row) + " of it"; };
  {
    Database database = Database::open(dir / "a.db");
    for (int row = 0; row < kRows; ++row) {
      Record record = timed("w", "d", 1 + row);
      record.outcome = Failure{FailureKind::kCrash, mark(row), {}};
      database.append(record);
    }
  }
  const std::string whole = bytes_of(dir / "a.db");
  const std::uint64_t seed = 9;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int round = 0; round < 60; ++round) {
    std::string bytes = whole;
    if (round % 3 == 0) {
      bytes.resize(bytes.size() / 2 + rng.below(bytes.size() / 2));
    } else {
      for (int i = 0; i < 4; ++i) {
        const std::size_t page = (i == 0 ? 0 : rng.below(bytes.size() / 4096)) * 4096;
        for (std::size_t at = page; at < page + 4096; ++at)
          bytes[at] = round % 3 == 1 ? '\0' : static_cast<char>(rng.below(256));
      }
    }
    std::set<std::string> there;
    for (int row = 0; row < kRows; ++row)
      if (bytes.find(mark(row)) != std::string::npos) there.insert(mark(row));
    write_bytes(dir / "torn.db", bytes);
    std::filesystem::remove(dir / "new.db");
    if (there.empty()) continue;  // FindsNothingInWhatIsNoLogAndMakesNoFile
    salvage(dir / "torn.db", dir / "new.db");
    std::string saved;
    for (const Record& record : Database::open_read_only(dir / "new.db").all({}))
      saved += std::get<Failure>(record.outcome).text + "\n";
    const auto lost = std::ranges::count_if(
        there, [&saved](const std::string& row) { return saved.find(row) == std::string::npos; });
    // A cut may go through a row, behind its text.
    EXPECT_LE(lost, round % 3 == 0 ? 1 : 0) << "of " << there.size() << " rows in round " << round;
  }
}

TEST(Salvage, LeavesOutRowsWithAFlippedBitAndCountsThem) {
  TempDir dir;
  {
    Database database = Database::open(dir / "a.db");
    for (int i = 1; i <= 50; ++i) database.append(timed("w", "a-device-to-find", i));
  }
  std::string bytes = bytes_of(dir / "a.db");
  std::size_t at = 0;
  for (int i = 0; i < 5; ++i) at = bytes.find("a-device-to-find", at + 1);
  bytes[at] ^= 1;
  write_bytes(dir / "a.db", bytes);
  const AddedRows rows = salvage(dir / "a.db", dir / "b.db");
  EXPECT_GE(rows.trials.added, 49);
  EXPECT_EQ(rows.trials.added + rows.trials.refused, 50);
}

TEST(Salvage, DoesNotFollowAChainOfPagesThatBitesItsTail) {
  // Four pages: each of the first three is full of cells that state 60 MiB and go on in the fourth, whose
  // next page is itself.
  constexpr std::size_t kSize = 512, kPages = 4;
  // A payload of this length has 39 bytes on the page itself (SQLite's file format, section 1.6).
  constexpr int kLocal = 39, kLength = kLocal + 123'800 * (kSize - 4);
  std::string bytes(kSize * kPages, '\0');
  const auto put = [&bytes](std::size_t at, std::initializer_list<int> values) {
    for (const int value : values) bytes[at++] = static_cast<char>(value);
  };
  bytes.replace(0, 16, std::string("SQLite format 3\0", 16));
  put(16, {kSize >> 8, 0});
  for (std::size_t page = 0; page + 1 < kPages; ++page) {
    const std::size_t at = page * kSize, header = at + (page == 0 ? 100 : 0);
    put(header, {0x0d, 0, 0, 0, 230});  // a leaf of a table with 230 cells, all of them the one at 450
    for (std::size_t i = 0; header + 8 + 2 * i + 2 <= at + 450; ++i)
      put(header + 8 + 2 * i, {450 >> 8, 450 & 0xff});
    put(at + 450, {kLength >> 21 | 128, (kLength >> 14 & 127) | 128, (kLength >> 7 & 127) | 128,
                   kLength & 127, 1});          // its length, and row 1
    put(at + 455 + kLocal, {0, 0, 0, kPages});  // behind the bytes on the page itself: the page of the rest
  }
  put((kPages - 1) * kSize, {0, 0, 0, kPages});
  const TempDir dir;
  write_bytes(dir / "bomb.db", bytes);
  const std::int64_t before = bytes_read();
  EXPECT_EQ(error_of([&] { salvage(dir / "bomb.db", dir / "fresh.db"); }).kind, kNotFound);
  EXPECT_LT(bytes_read() - before, std::int64_t{1} << 20);
}

// Each of 256 pages is full of cells that state 800 kB and share one chain: read for each cell, these are 13
// GB.
TEST(Salvage, ReadsAsMuchAsItsFileIsLarge) {
  constexpr std::size_t kSize = 4096, kPages = 256, kCells = 255, kFirst = 1024, kPointers = 2048;
  // Bytes of such a payload that lie on the page itself (SQLite's file format, section 1.6).
  constexpr std::size_t kLeast = (kSize - 12) * 32 / 255 - 23, kLocal = 1500;
  std::size_t length = 800'000;
  while (kLeast + (length - kLeast) % (kSize - 4) != kLocal) ++length;
  const auto byte = [](std::size_t value) { return static_cast<char>(value); };
  std::string page(kSize, '\0');
  page[3] = 2;  // a page of a chain continues on page 2; a leaf has 512 cells
  for (std::size_t i = 0; i < kCells; ++i) {
    const std::size_t at = kFirst + 4 * i;
    page[8 + 2 * i] = byte(at >> 8);
    page[9 + 2 * i] = byte(at & 255);
    page.replace(at, 4, {byte(length >> 14 | 128), byte((length >> 7 & 127) | 128), byte(length & 127), 7});
  }
  for (std::size_t at = kPointers; at < kSize; at += 4) page.replace(at, 4, {0, 0, 0, 2});
  std::string bytes;
  for (std::size_t i = 0; i < kPages; ++i) bytes += page;
  bytes.replace(0, 16, std::string("SQLite format 3\0", 16));
  bytes[16] = byte(kSize >> 8);
  bytes[17] = 0;
  const TempDir dir;
  write_bytes(dir / "shared.db", bytes);
  const std::int64_t before = bytes_read();
  EXPECT_EQ(error_of([&] { salvage(dir / "shared.db", dir / "fresh.db"); }).kind, kNotFound);
  EXPECT_LT(bytes_read() - before, std::int64_t{1} << 28);
}

TEST(Salvage, FindsNothingInWhatIsNoLogAndMakesNoFile) {
  TempDir dir;
  sqlite::Connection(dir / "foreign.db", sqlite::Mode::kReadWrite)
      .execute("CREATE TABLE trial (a, b); INSERT INTO trial VALUES (1, 'x'), (2, 'y')");
  Rng rng(6);
  std::string noise(200'000, ' ');
  for (char& c : noise) c = static_cast<char>(rng.below(256));
  write_bytes(dir / "noise.db", noise);
  write_bytes(dir / "empty.db", "");
  write_bytes(dir / "short.db", "SQLite format 3");
  {
    Database::open(dir / "unused.db");
  }
  for (const char* name : {"foreign.db", "noise.db", "empty.db", "short.db", "unused.db"}) {
    const auto caught = error_of([&] { salvage(dir / name, dir / "new.db"); });
    EXPECT_EQ(caught.kind, kNotFound) << name;
    EXPECT_THAT(caught.message, HasSubstr(name));
    EXPECT_FALSE(std::filesystem::exists(dir / "new.db")) << name;
  }
  EXPECT_EQ(error_of([&] { salvage(dir / "none.db", dir / "new.db"); }).kind, kUser);
  EXPECT_EQ(error_of([&] { salvage(dir / "empty.db", dir / "noise.db"); }).kind, kUser);
  EXPECT_TRUE(bytes_of(dir / "noise.db") == noise);
}

// "holds no sound row" would tell its owner that a sound log is lost.
TEST(Salvage, NamesTheVersionOfALogThatIsOfAnother) {
  TempDir dir;
  {
    Database::open(dir / "older.db");
  }
  sqlite::Connection(dir / "older.db", sqlite::Mode::kReadWrite).execute("PRAGMA user_version=6");
  const auto caught = error_of([&] { salvage(dir / "older.db", dir / "new.db"); });
  EXPECT_EQ(caught.kind, kUser);
  EXPECT_THAT(caught.message, HasSubstr("older.db' has schema version 6"));
  EXPECT_FALSE(std::filesystem::exists(dir / "new.db"));
}

}  // namespace
}  // namespace lehr
