// Tests of `lehr db`: the whole life of a log at the command line, and logs by strangers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "cli/db_report.h"
#include "database/database.h"
#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kLogged =
    "gemm m=24 n=20 k=16 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";

Record timed(const std::string& id, double time_us) {
  Record record;
  record.id = id;
  record.workload = kLogged;
  record.device = "cpu | some device";
  record.target = "cpu";
  record.config = Config{"gemm_cpu", {{"mr", 8}}};
  record.outcome = Timing{.time_us = time_us, .samples_us = {time_us}, .resources = {}};
  record.picked_by = "anneal";
  record.session = "s";
  record.created_unix_ms = 1'700'000'000'000;
  return record;
}

class Db : public ::testing::Test {
 protected:
  Ran lehr(const std::string& line) { return run_lehr(words(line), scratch_.path()); }
  json document(const std::string& line, int code = 0) {
    const Ran ran = lehr(line);
    EXPECT_EQ(ran.code, code) << ran.err;
    const json parsed = json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << ran.out;
    return parsed;
  }
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(scratch_.path() / name, std::ios::binary) << bytes;
  }
  /// Adds the records to a log.
  void log(const std::string& name, const std::vector<Record>& records) {
    Database database = Database::open(scratch_.path() / name);
    for (const Record& record : records) database.append(record);
  }
  std::string read(const std::string& name) {
    std::ifstream file(scratch_.path() / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void expect_error(const std::string& line, int code, const std::string& says) {
    const Ran ran = lehr(line);
    EXPECT_EQ(ran.code, code) << line;
    EXPECT_THAT(ran.err, HasSubstr(says)) << line;
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
    EXPECT_EQ(ran.out, "") << line;
  }

  Scratch scratch_;
};

TEST_F(Db, MergeVerifyAndSalvageAgree) {
  std::vector<Record> records;
  for (int i = 0; i < 20; ++i) {
    records.push_back(timed("id" + std::to_string(i), 10 + i));
    records.back().tool_version = "version " + std::to_string(i);
  }
  log("a.db", records);
  log("b.db", {records[0], timed("more", 5)});
  EXPECT_EQ(lehr("db merge b.db a.db --trusted").out,
            "a.db: 19 trials and 0 verdicts added, 1 were there already\n");
  EXPECT_EQ(document("db stats b.db --json")["records"], 21);
  EXPECT_EQ(document("best --db b.db --json")[0]["record"], "more");
  EXPECT_EQ(lehr("db verify b.db").out, "b.db: sound, 21 trials, 0 verdicts and 0 devices\n");
  EXPECT_TRUE(document("db verify b.db --json")["sound"]);

  std::string bytes = read("b.db");
  const std::size_t at = bytes.find("version 7");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 8] ^= 1;
  write("b.db", bytes);
  const json found = document("db verify b.db --json", 4);
  EXPECT_FALSE(found["sound"]);
  const Ran told = lehr("db verify b.db");
  EXPECT_EQ(told.code, 4);
  EXPECT_THAT(told.out, HasSubstr("of table trial (id id7) is damaged: its checksum is wrong"));
  EXPECT_EQ(document("db merge c.db b.db --json", 4)["merged"][0]["trials"]["damaged"], 1);
  EXPECT_EQ(document("db salvage b.db saved.db --json")["trials"]["added"], 20);
  EXPECT_TRUE(document("db verify saved.db --json")["sound"]);
  write("torn.db", std::string(4096, 'x') + bytes.substr(4096));
  EXPECT_THAT(lehr("db salvage torn.db torn2.db").out, HasSubstr("saved from 'torn.db'"));
}

TEST_F(Db, MergeOfManySaysTheSumAndWhatIsUnusualOrChangesNothing) {
  Record other = timed("id1", 7);
  other.seed = 7;
  log("all.db", {timed("id1", 7)});
  log("a.db", {timed("id1", 7), timed("id2", 8)});
  log("b.db", {timed("id3", 9)});
  log("c.db", {other, timed("id4", 5)});
  const std::string torn = read("c.db").substr(0, 5000);
  write("torn.db", torn);
  const std::string before = read("all.db");
  expect_error("db merge all.db a.db b.db torn.db", 2, "torn.db' is damaged");
  expect_error("db merge new.db a.db none.db", 1, "there is no database 'none.db'");
  EXPECT_EQ(read("all.db"), before);
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "new.db"));
  EXPECT_EQ(lehr("db merge all.db a.db b.db c.db").out,
            "c.db: 1 trial and 0 verdicts added, 1 left out because another has the same id\n"
            "3 logs: 3 trials and 0 verdicts added, 1 were there already, 1 left out because another has the "
            "same id\n");
  EXPECT_EQ(document("db merge all.db a.db b.db c.db --json")["merged"].size(), 3u);
  EXPECT_EQ(merging_text(120, 1000, 60000, 3),
            "120 of 1000 logs merged, 60000 trials, 20000 a second, 22 s left");
}

TEST_F(Db, SaysInOneSentenceWhatIsWrong) {
  log("a.db", {timed("id", 5)});
  write("notes.txt", "just some notes");
  write("empty.db", "");
  expect_error("db merge a.db a.db", 1, "'a.db' cannot be merged into itself");
  expect_error("db merge a.db none.db", 1, "there is no database 'none.db'");
  expect_error("db merge a.db notes.txt", 1, "notes.txt' is not a Lehr database");
  expect_error("db merge notes.txt a.db", 1, "notes.txt' is not a Lehr database");
  expect_error("db merge a.db empty.db", 1, "'empty.db' is empty");
  expect_error("report a.db --out ./a.db", 1, "./a.db is the log itself, which the page would replace");
  expect_error("report a.db --json --out x.html", 1, "--json writes no page: leave out --out x.html");
  expect_error("db salvage a.db notes.txt", 1, "'notes.txt' exists");
  expect_error("db salvage notes.txt new.db", 3, "'notes.txt' holds no sound row");
  expect_error("db salvage none.db new.db", 1, "'none.db' cannot be read");
  expect_error("db verify none.db", 1, "there is no database 'none.db'");
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "new.db"));
  EXPECT_EQ(lehr("db verify a.db").out, "a.db: sound, 1 trial, 0 verdicts and 0 devices\n");
}

// Each reader is a program of its own, since locks belong to a process. Reading commands once left "-wal" and
// "-shm" behind. A command that removes them must not do so while somebody else uses them.
TEST_F(Db, ReadersLeaveNothingBehindAndDisturbNobody) {
  log("other.db", {timed("merged", 9)});
  log("a.db", {timed("id0", 5)});
  const auto expect_rows = [&](int rows) {
    EXPECT_EQ(document("db stats a.db --json")["records"], rows);
    EXPECT_EQ(document("db verify a.db --json")["records"], rows);
    EXPECT_EQ(document("best --db a.db --json").size(), 1u);
    EXPECT_EQ(lehr("replay a.db --trials 1 --seeds 1 --quiet").code, 0);
  };
  const auto helpers = [&] {
    return std::filesystem::exists(scratch_.path() / "a.db-wal") ||
           std::filesystem::exists(scratch_.path() / "a.db-shm");
  };
  expect_rows(1);
  EXPECT_FALSE(helpers());
  {
    const Database reader = Database::open_read_only(scratch_.path() / "a.db");
    EXPECT_EQ(reader.stats().records, 1);
    expect_rows(1);
    EXPECT_TRUE(helpers());
    EXPECT_EQ(document("db merge a.db other.db --json")["merged"][0]["trials"]["added"], 1);
    EXPECT_EQ(reader.stats().records, 2);
  }
  EXPECT_FALSE(helpers());
  {
    Database writer = Database::open(scratch_.path() / "a.db");
    expect_rows(2);
    for (int i = 1; i <= 3; ++i) {
      writer.append(timed("id" + std::to_string(i), 5));
      expect_rows(2 + i);
    }
    // A process that read the file beside its log once lost its locks: the next reader removed the log under
    // it.
    EXPECT_EQ(Database::open_read_only(scratch_.path() / "a.db").stats().records, 5);
    EXPECT_EQ(document("db merge a.db other.db --json")["merged"][0]["trials"]["present"], 1);
    writer.append(timed("id4", 5));
    expect_rows(6);
  }
  expect_rows(6);
  EXPECT_FALSE(helpers());
}

// Rows with a right checksum that nobody measured: what a stranger may send.
TEST_F(Db, AStrangersRowsDoNoHarm) {
  Record evil = timed("evil", 1);
  evil.device = "cpu \x1b]0;title\x07\x1b[2J \xff\xfe";
  evil.picked_by = "$(touch pwned) `touch pwned`; touch pwned";
  evil.session = "'; DROP TABLE trial; --";
  evil.tool_version = std::string(1 << 20, 'x');
  Record nonsense = timed("nonsense", 1e-300);
  nonsense.workload = "gemm m=99999999999999999999 n=-1 k=\x1b[31m";
  Record odd_config = timed("odd", 1e-9);
  odd_config.config = Config{"gemm_cpu", {{"mr", INT64_MAX}, {"kc", INT64_MIN}, {"nv", 0}}};
  Record odd_family = timed("family", 1e-9);
  odd_family.config = Config{"system", {}};
  Record giant = timed("giant", 1e308);
  std::get<Timing>(giant.outcome).samples_us.assign(100'000, 1e308);
  std::get<Timing>(giant.outcome).spread = -1e308;
  Record failure = timed("failure", 1);
  failure.outcome = Failure{FailureKind::kCrash, std::string(1 << 20, '%') + "{}%n%s", {}};
  Record good = timed("good", 7);
  log("theirs.db", {evil, nonsense, odd_config, odd_family, giant, failure, good});
  EXPECT_EQ(document("db merge log.db theirs.db --json")["merged"][0]["trials"]["added"], 7);
  for (const std::string command :
       {"db stats log.db", "db stats log.db --json", "db verify log.db", "best --db log.db",
        "best --db log.db --json", "export --db log.db --out out",
        "export --db log.db --out out --replace --json",
        "show --db log.db gemm --m 8 --n 8 --k 8 --as source", "replay log.db --trials 4 --runs 1",
        "tune gemm --m 24 --n 20 --k 16 --device cpu --threads 1 --no-baseline --trials 2 --db log.db"}) {
    const Ran ran = lehr(command);
    EXPECT_LE(ran.code, 3) << command << "\n" << ran.err.substr(0, 500);
    EXPECT_THAT(ran.err, Not(HasSubstr("internal error"))) << command;
    EXPECT_THAT(ran.err, Not(HasSubstr("unexpected"))) << command;
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\x1b"))) << command;
  }
  // The sound row is still the answer for its device.
  EXPECT_THAT(lehr("best --db log.db").out, HasSubstr("gemm_cpu(mr=8)"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path() / "pwned"));
  EXPECT_EQ(lehr("db verify log.db").code, 0);
}

}  // namespace
}  // namespace lehr::testing
