// Logs that are joined and moved: merge, dump, import.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/text.h"
#include "database/json_lines.h"
#include "database/record_codec.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::bytes_of;
using test::changed;
using test::dump_of;
using test::error_of;
using test::kUser;
using test::random_record;
using test::TempDir;
using test::timed;
using test::verdict;
using test::write_bytes;
using testing::HasSubstr;
using testing::SizeIs;

void fill(Database& database, Rng& rng, int count) {
  for (int i = 0; i < count; ++i) {
    const Record stored = database.append(random_record(rng));
    if (i % 10 == 0) database.append(verdict(stored.workload, stored.device, stored.id));
  }
}

TEST(Merge, AddsOverlappingShardsOnceHoweverOftenItIsAsked) {
  TempDir dir;
  Rng rng(1);
  Database into = Database::open(dir / "into.db");
  std::vector<Database> shards;
  std::vector<Record> records;
  for (int i = 0; i < 60; ++i) {
    Record record = random_record(rng);
    record.id = "id" + std::to_string(i);
    record.created_unix_ms = 1 + i;
    records.push_back(record);
  }
  for (int shard = 0; shard < 3; ++shard) {
    shards.push_back(Database::open(dir / std::to_string(shard)));
    for (int i = shard * 15; i < shard * 15 + 30; ++i) shards.back().append(records[i]);
    StoredVerdict shared = verdict("w", "d", "id1");
    shared.created_unix_ms = 5;
    shards.back().append(shared);
  }
  const std::vector<AddedRows> first = into.merge(shards);
  ASSERT_THAT(first, SizeIs(3));
  EXPECT_EQ(first[0].trials.added, 30);
  EXPECT_EQ(first[1].trials.added, 15);
  EXPECT_EQ(first[1].trials.present, 15);
  EXPECT_EQ(first[2].trials.added, 15);
  EXPECT_EQ(first[0].verdicts.added + first[1].verdicts.added + first[2].verdicts.added, 1);
  const std::string once = dump_of(into);
  for (const AddedRows& again : into.merge(shards)) {
    EXPECT_EQ(again.trials.added + again.verdicts.added, 0);
    EXPECT_EQ(again.trials.present, 30);
  }
  EXPECT_EQ(dump_of(into), once);
  EXPECT_EQ(into.stats().records, 60);
  EXPECT_TRUE(into.verify().sound());
}

TEST(Merge, RefusesDamagedRowsAndOtherContentUnderAKnownIdAndCountsThem) {
  TempDir dir;
  Database a = Database::open(dir / "a.db");
  Database b = Database::open(dir / "b.db");
  const Record shared = a.append(timed("w", "d", 5));
  Record other = shared;
  other.seed = 7;
  b.append(other);
  b.append(timed("w", "d", 4));
  b.append(timed("w", "d", 3));
  b.append(verdict("w", "d", shared.id));
  sqlite::Connection(dir / "b.db", sqlite::Mode::kReadWrite)
      .execute("UPDATE trial SET arch = 'x' WHERE time_us = 3; UPDATE verdict SET best_us = 0.5");
  const AddedRows rows = a.merge({&b, 1})[0];
  EXPECT_EQ(rows.trials.added, 1);
  EXPECT_EQ(rows.trials.conflicting, 1);
  EXPECT_EQ(rows.trials.refused, 1);
  EXPECT_EQ(rows.verdicts.added, 0);
  EXPECT_EQ(rows.verdicts.refused, 1);
  EXPECT_EQ(a.find(shared.id)->seed, shared.seed);
  EXPECT_TRUE(a.verify().sound());
}

// Trials name their device by its row, which goes where they go.
TEST(Merge, TakesDevicesAlongAndKeepsEachSetOfFactsThatOneIdentityHad) {
  TempDir dir;
  Database a = Database::open(dir / "a.db"), b = Database::open(dir / "b.db");
  const StoredDevice before = test::stored_gpu("H100", 114);
  StoredDevice after = before;  // a later prober tells more under the same identity
  after.limits.l2_bytes = 50 << 20;
  Record record = timed("w", before.identity, 5);
  record.device_hash = a.append(before);
  EXPECT_EQ(a.append(before), record.device_hash);
  const std::string first = a.append(record).id;
  Record later = timed("w", before.identity, 4);
  later.device_hash = b.append(after);
  EXPECT_NE(later.device_hash, record.device_hash);
  const std::string second = b.append(later).id;
  b.append(before);
  const AddedRows rows = a.merge({&b, 1})[0];
  EXPECT_EQ(rows.devices.added, 1);
  EXPECT_EQ(rows.devices.present, 1);
  EXPECT_EQ(a.stats().devices, 2);
  write_bytes(dir / "all.jsonl", dump_of(a));
  Database copy = Database::open(dir / "copy.db");
  const std::vector<std::filesystem::path> lines = {dir / "all.jsonl"};
  EXPECT_EQ(copy.import_lines(lines, Trust::kAsRunHere)[0].devices.added, 2);
  EXPECT_TRUE(dump_of(copy) == dump_of(a));
  for (const Database* log : {&a, &copy}) {
    const auto devices = log->devices();
    EXPECT_EQ(devices.at(log->find(first)->device_hash).limits.l2_bytes, 0);
    EXPECT_EQ(devices.at(log->find(second)->device_hash).limits.l2_bytes, 50 << 20);
    EXPECT_EQ(log->verify().devices, 2);
    EXPECT_TRUE(log->verify().sound());
  }
}

using Origins = std::map<std::string, std::string>;

/// A log with one session of one trial and its verdict.
Database log_of(const std::filesystem::path& path, const std::string& session) {
  Database log = Database::open(path);
  Record record = timed("w", "d", 5);
  record.session = session;
  StoredVerdict won = verdict("w", "d", log.append(record).id);
  won.session = session;
  log.append(won);
  return log;
}

TEST(Merge, KnowsWhoseSessionsAreWhose) {
  TempDir dir;
  Database a = log_of(dir / "a.db", "of a"), b = log_of(dir / "b.db", "of b"),
           c = log_of(dir / "c.db", "of c");
  EXPECT_EQ(a.origins(), Origins());
  EXPECT_EQ(a.merge({&b, 1})[0].verdicts.added, 1);
  EXPECT_EQ(a.origins(), (Origins{{"of b", "b.db"}}));
  EXPECT_EQ(a.stats().merged_sessions, (std::map<std::string, std::int64_t>{{"b.db", 1}}));
  ASSERT_THAT(a.verdicts({}), SizeIs(1));
  EXPECT_EQ(a.verdicts({})[0].session, "of a") << "the newer one is what somebody else says";
  // Through a second log; what comes back home was never away.
  c.merge({&a, 1});
  EXPECT_EQ(c.origins(), (Origins{{"of a", "a.db"}, {"of b", "b.db"}}));
  b.merge({&c, 1});
  EXPECT_EQ(b.origins(), (Origins{{"of a", "a.db"}, {"of c", "c.db"}}));
  const std::string once = dump_of(b);
  b.merge({&c, 1});
  EXPECT_EQ(dump_of(b), once);
  EXPECT_EQ(b.verify().origins, 2);
  EXPECT_TRUE(b.verify().sound());
}

TEST(Merge, WaysOfOthersAreNotTaken) {
  TempDir dir;
  Database a = log_of(dir / "a.db", "of a"), b = log_of(dir / "b.db", "of b");
  a.append(test::stored_way("of a"));
  StoredWay other = test::stored_way("of b");
  other.way = 7;
  b.append(other);
  other.list = 1;
  other.session = "of nobody who has trials";
  b.append(other);
  EXPECT_EQ(b.ways("w", "d").size(), 2U);
  const auto count = [](const RowCounts& rows) { return std::pair(rows.added, rows.present); };
  EXPECT_EQ(count(a.merge({&b, 1})[0].ways), std::pair(std::int64_t{2}, std::int64_t{0}));
  EXPECT_EQ(count(a.merge({&b, 1})[0].ways), std::pair(std::int64_t{0}, std::int64_t{2}));
  EXPECT_EQ(a.stats().ways, 3);
  EXPECT_EQ(a.verify().ways, 3);
  EXPECT_TRUE(a.verify().sound());
  ASSERT_EQ(a.ways("w", "d").size(), 1U);
  EXPECT_EQ(a.ways("w", "d")[0].way, 5);
  EXPECT_TRUE(a.ways("w", "another").empty());
  EXPECT_TRUE(a.ways("another", "d").empty());
  // As lines, and of a log of one's own.
  write_bytes(dir / "lines", dump_of(b));
  const std::vector<std::filesystem::path> lines = {dir / "lines"};
  Database c = Database::open(dir / "c.db"), d = Database::open(dir / "d.db");
  c.import_lines(lines);
  EXPECT_TRUE(c.ways("w", "d").empty());
  d.import_lines(lines, Trust::kAsRunHere);
  EXPECT_EQ(d.ways("w", "d").size(), 2U);
  EXPECT_TRUE(dump_of(d) == dump_of(b));
}

TEST(Merge, TrustedRowsAreAsGoodAsOnesOwn) {
  TempDir dir;
  Database a = log_of(dir / "a.db", "of a"), b = log_of(dir / "b.db", "of b"),
           c = log_of(dir / "c.db", "of c");
  a.merge({&b, 1});
  c.merge({&a, 1}, Trust::kAsRunHere);
  EXPECT_EQ(c.origins(), (Origins{{"of b", "b.db"}})) << "of which its log knew better";
  write_bytes(dir / "lines", dump_of(a));
  const std::vector<std::filesystem::path> lines = {dir / "lines"};
  Database d = Database::open(dir / "d.db"), e = Database::open(dir / "e.db");
  d.import_lines(lines);
  EXPECT_EQ(d.origins(), (Origins{{"of a", "lines"}, {"of b", "b.db"}}));
  e.import_lines(lines, Trust::kAsRunHere);
  EXPECT_EQ(e.origins(), (Origins{{"of b", "b.db"}}));
}

TEST(Merge, CarriesDevicesOfTargetsThatItDoesNotKnowAndRefusesDamagedOnes) {
  TempDir dir;
  Database a = Database::open(dir / "a.db"), b = Database::open(dir / "b.db");
  b.append(test::stored_gpu("H100", 114));
  const sqlite::Row foreign =
      changed(device_table(), encode(test::stored_gpu("a GPU of tomorrow", 7)), "target", "tomorrow");
  bool given = false;
  const AddedRows own = b.add_rows([&](const LogTable*& table, sqlite::Row& row) {
    table = &device_table();
    row = foreign;
    return !std::exchange(given, true);
  });
  EXPECT_EQ(own.devices.added, 1);
  EXPECT_EQ(b.devices().size(), 1u);
  EXPECT_TRUE(b.verify().sound());
  sqlite::Connection(dir / "b.db", sqlite::Mode::kReadWrite)
      .execute("UPDATE device SET name='x' WHERE name='H100'");
  EXPECT_EQ(b.verify().damaged.at(0).table, "device");
  const AddedRows rows = a.merge({&b, 1})[0];
  EXPECT_EQ(rows.devices.added, 1);
  EXPECT_EQ(rows.devices.refused, 1);
}

TEST(Verify, CountsTrialsWhoseDeviceIsNotThere) {
  Database log = Database::open(":memory:");
  Record record = timed("w", "d", 5);
  record.device_hash = log.append(test::stored_gpu("H100", 114));
  log.append(record);
  log.append(timed("w", "d", 5));  // an older one, which names none
  EXPECT_EQ(log.verify().without_device, 0);
  record.device_hash = 77;
  log.append(record);
  EXPECT_EQ(log.verify().without_device, 1);
  EXPECT_TRUE(log.verify().sound());
}

TEST(JsonLines, GiveBackEveryRowByteForByte) {
  const std::uint64_t seed = 12;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  TempDir dir;
  Database source = Database::open(dir / "source.db");
  fill(source, rng, 300);
  const std::string text = dump_of(source);
  write_bytes(dir / "all.jsonl", text);
  Database copy = Database::open(dir / "copy.db");
  const std::vector<std::filesystem::path> files = {dir / "all.jsonl"};
  const AddedRows rows = copy.import_lines(files, Trust::kAsRunHere)[0];
  EXPECT_EQ(rows.trials.added, 300);
  EXPECT_EQ(rows.verdicts.added, 30);
  EXPECT_TRUE(dump_of(copy) == text);
  EXPECT_TRUE(copy.verify().sound());
  EXPECT_EQ(copy.import_lines(files)[0].trials.present, 300);
  EXPECT_TRUE(dump_of(copy) == text);
}

// The checksum was computed by another program from the specification in database/README.md.
TEST(JsonLines, HaveOneWrittenForm) {
  Record record = timed("w\"\n", std::string("d\0\xff", 3), 5);
  record.id = "0123";
  record.created_unix_ms = 1;
  std::get<Timing>(record.outcome).max_error = std::numeric_limits<double>::infinity();
  const std::string expected =
      R"x({"table":"trial","id":"0123","workload":"w\"\n","device":{"hex":"6400ff"},"target":"cpu","arch":"",)x"
      R"x("family":"gemm_cpu","config":"gemm_cpu(mr=8, nr=2)","template_version":1,"outcome":"timing",)x"
      R"x("time_us":5,"samples_us":"[5]","spread":0,"reference_us":0,"max_error":"inf","run_s":0,"failure":null,)x"
      R"x("registers":null,"spill_bytes":null,"shared_bytes":null,"stack_bytes":null,"compile_s":0,)x"
      R"x("predicted":null,"picked_by":"anneal","session":"s1","seed":0,"created_unix_ms":1,)x"
      R"x("tool_version":"","advisories":null,"device_hash":null,"source_hash":null,"checksum":-1088513103347799739})x";
  EXPECT_EQ(to_json_line(trial_table(), encode(record)), expected);
}

TEST(JsonLines, AreReadStrictly) {
  Record record = timed("w", "d", 5);
  record.id = "0123";
  const std::string good = to_json_line(trial_table(), encode(record));
  const auto with = [&](std::string_view old, std::string_view fresh) {
    std::string line = good;
    const std::size_t at = line.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    return line.replace(at, old.size(), fresh);
  };
  EXPECT_EQ(parse_json_line(good).row, encode(record));
  EXPECT_EQ(parse_json_line(" " + with("\"advisories\":null,", "") + "\r").row, encode(record));
  const std::string deep = std::string(100000, '[');
  for (const auto& [line, says] : std::vector<std::pair<std::string, std::string>>{
           {"", "not JSON"},
           {"{", "not JSON"},
           {good.substr(0, good.size() - 1), "not JSON"},
           {good + good, "not JSON"},
           {"null", "a row is an object"},
           {"[" + good + "]", "no arrays"},
           {deep, "no arrays"},
           {"{\"table\":" + deep, "no arrays"},
           {with("\"device\":\"d\"", "\"device\":{\"hex\":{\"hex\":\"\"}}"), "no objects inside"},
           {with("\"device\":\"d\"", "\"device\":{\"hex\":\"6\"}"), "two digits"},
           {with("\"device\":\"d\"", "\"device\":{\"hex\":\"6G\"}"), "two digits"},
           {with("\"device\":\"d\"", "\"device\":{\"hex\":\"61\",\"hex\":\"62\"}"), "two digits"},
           {with("\"device\":\"d\"", "\"device\":{}"), "one member"},
           {with("\"device\":\"d\"", "\"device\":{\"bytes\":\"61\"}"), "one member"},
           {with("\"device\":\"d\"", "\"device\":true"), "true and false"},
           {with("\"device\":\"d\"", "\"device\":null"), "'device' must be a text"},
           {with("\"device\":\"d\"", "\"device\":5"), "'device' must be a text"},
           {with("\"device\":\"d\"", "\"device\":\"\xff\""), "not JSON"},
           {with("\"time_us\":5", "\"time_us\":\"5\""), "'time_us' must be a number or null"},
           {with("\"time_us\":5", "\"time_us\":NaN"), "not JSON"},
           {with("\"time_us\":5", "\"time_us\":1e999"), "not JSON"},
           {with("\"seed\":0", "\"seed\":0.5"), "'seed' must be a whole number of 64 bits"},
           {with("\"seed\":0", "\"seed\":18446744073709551615"), "'seed' must be a whole number of 64 bits"},
           {with("\"seed\":0", "\"seed\":0,\"seed\":0"), "'seed' is there twice"},
           {with("\"seed\":0", "\"sead\":0"), "a trial has no column \"sead\""},
           {with("\"seed\":0,", ""), "'seed' is missing"},
           {with("\"table\":\"trial\"", "\"table\":\"trail\""), "must be \"trial\" or \"verdict\""},
           {with("\"table\":\"trial\",", ""), "\"table\" is missing"},
           {with("\"table\":\"trial\"", "\"table\":\"trial\",\"table\":\"trial\""), "no column \"table\""},
           {with("\"table\":\"trial\"", "\"table\":\"verdict\""), "a verdict has no column \"id\""}}) {
    const auto caught = error_of([&] { parse_json_line(line); });
    EXPECT_EQ(caught.kind, kUser) << line.substr(0, 300);
    EXPECT_THAT(caught.message, HasSubstr(says)) << line.substr(0, 300);
  }
}

TEST(Import, NamesTheBadLineAndWritesNothing) {
  TempDir dir;
  Rng rng(2);
  Database source = Database::open(":memory:");
  fill(source, rng, 20);
  const std::string text = dump_of(source);
  Database target = Database::open(dir / "a.db");
  target.append(timed("w", "d", 5));
  const std::string before = dump_of(target);
  const std::size_t third = text.find('\n', text.find('\n') + 1) + 1;
  std::string flipped = text, torn = text;
  const std::size_t digit = flipped.find("\"created_unix_ms\":", third) + 18;
  flipped[digit] = flipped[digit] == '1' ? '2' : '1';
  torn.resize(text.find('\n', third) - 5);
  const std::string empty_line = text.substr(0, third) + "\n" + text.substr(third);
  for (const auto& [bad, says] :
       std::vector<std::pair<std::string, std::string>>{{flipped, "line 3: its checksum is wrong"},
                                                        {torn, "line 3: not JSON"},
                                                        {empty_line, "line 3: not JSON"}}) {
    write_bytes(dir / "bad.jsonl", bad);
    write_bytes(dir / "good.jsonl", text);
    const std::vector<std::filesystem::path> files = {dir / "good.jsonl", dir / "bad.jsonl"};
    const auto caught = error_of([&] { target.import_lines(files); });
    EXPECT_EQ(caught.kind, kUser);
    EXPECT_THAT(caught.message, HasSubstr("bad.jsonl, " + says));
    EXPECT_EQ(dump_of(target), before);
  }
  const std::vector<std::filesystem::path> none = {dir / "none.jsonl"}, folder = {dir.path()};
  EXPECT_THAT(error_of([&] { target.import_lines(none); }).message, HasSubstr("none.jsonl"));
  EXPECT_THAT(error_of([&] { target.import_lines(folder); }).message, HasSubstr("cannot be read"));
  EXPECT_EQ(dump_of(target), before);
}

TEST(Dump, LeavesOutDamagedRowsAndSaysHowMany) {
  TempDir dir;
  Database database = Database::open(dir / "a.db");
  for (int i = 1; i <= 4; ++i) database.append(timed("w", "d", i));
  sqlite::Connection(dir / "a.db", sqlite::Mode::kReadWrite)
      .execute("UPDATE trial SET seed = 1 WHERE time_us > 2");
  int lines = 0;
  EXPECT_EQ(database.dump([&](std::string_view) { ++lines; }), 2);
  EXPECT_EQ(lines, 2);
}

}  // namespace
}  // namespace lehr
