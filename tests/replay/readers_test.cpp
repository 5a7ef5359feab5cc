// Tests of each format as its program writes it, and of the message for files that are not so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/emit.h"
#include "codegen/source_hash.h"
#include "database/database.h"
#include "replay/read_table.h"
#include "target/archs.h"
#include "templates/catalog.h"
#include "tests/replay/support.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

const std::string kCache = R"({
"device_name": "NVIDIA A100", "kernel_name": "gemm kernel", "problem_size": [4096, 4096],
"tune_params_keys": ["block_size_x", "use", "mode"],
"tune_params": {"block_size_x": [32, 64], "use": [false, true], "mode": ["fast", "slow"]},
"cache": {
"32,false,fast": {"block_size_x": 32, "use": false, "mode": "fast", "time": 1.5, "times": [1.4, 1.6]},
"32,true,slow": {"block_size_x": 32, "use": true, "mode": "slow", "time": "RuntimeFailedConfig"},
"64,true,fast": {"block_size_x": 64.0, "use": true, "mode": "fast", "time": 0.75},
"64,false,fast": {"block_size_x": 64, "use": false, "mode": "fast", "time": 1e20}}
})";

const TableRow& row_of(const Table& table, const std::string& config) {
  const auto found = std::ranges::find(table.rows, parse_config(config), &TableRow::config);
  if (found == table.rows.end()) throw std::runtime_error(config + " is not there");
  return *found;
}

void expect_cache(const Table& table) {
  EXPECT_EQ(table.device, "NVIDIA A100");
  EXPECT_EQ(table.kernel, "gemm kernel 4096x4096");
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(row_of(table, "gemm_kernel(block_size_x=32, use=0, mode=0)").time_us, 1500);
  EXPECT_EQ(row_of(table, "gemm_kernel(block_size_x=64, use=1, mode=0)").time_us, 750);
  EXPECT_EQ(row_of(table, "gemm_kernel(block_size_x=32, use=1, mode=1)").time_us, std::nullopt);
  EXPECT_EQ(row_of(table, "gemm_kernel(block_size_x=64, use=0, mode=0)").time_us, std::nullopt);
  EXPECT_EQ(table.optimum_us(), 750);
}

TEST(Readers, TakeAKernelTunerCachePlainAndGzipped) {
  const Folder folder;
  expect_cache(read_tables(folder.file("a.json", kCache)).at(0));
  expect_cache(read_tables(folder.gzipped("a.json.gz", kCache)).at(0));
  expect_cache(read_tables(folder.gzipped("named as it likes", kCache)).at(0));
}

TEST(Readers, TakeACacheThatIsStillOpenAndSaySo) {
  const Folder folder;
  const std::string open = kCache.substr(0, kCache.find("\"64,false,fast\""));
  for (const std::string& text : {open, open.substr(0, open.rfind(',')), open + "\n\n"}) {
    const Table table = read_tables(folder.file("open.json", text)).at(0);
    EXPECT_EQ(table.rows.size(), 3u);
    ASSERT_EQ(table.notes.size(), 1u);
    EXPECT_THAT(table.notes[0], ::testing::EndsWith("its 3 whole rows count"));
  }
  // Cut within a row, and what a file system leaves behind a crash.
  for (const std::string& tail :
       {std::string("\"64,false,fast\": {\"block_size_x\": 64, \"ti"), std::string(100, '\0')}) {
    const Table table = read_tables(folder.file("cut.json", open + tail)).at(0);
    EXPECT_EQ(table.rows.size(), 3u);
    EXPECT_THAT(table.notes[0],
                HasSubstr(fmt::format("its 3 whole rows count, {} bytes behind them do not", tail.size())));
  }
}

TEST(Readers, TakeFailuresFromAnyMemberAndParametersFromKeys) {
  const Folder folder;
  const Table failed = read_tables(folder.file("a.json", R"({"device_name": "d", "kernel_name": "k",
    "tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 2.0},
    "2": {"a": 2, "time": 0.5, "__error__": "RuntimeFailedConfig"}}})"))
                           .at(0);
  ASSERT_EQ(failed.rows.size(), 2u);
  EXPECT_EQ(failed.rows[0].time_us, 2000);
  EXPECT_FALSE(failed.rows[1].time_us);
  const Table keyed = read_tables(folder.file("b.json", R"({"device_name": "d", "kernel_name": "k",
    "tune_params_keys": ["a", "b"], "cache": {"1,x": {"time": 2.0}, "4,y": {"time": 3.0}}})"))
                          .at(0);
  EXPECT_EQ(keyed.rows[1].config.at("a"), 4);
}

std::optional<std::string> note_with(const Table& table, const std::string& part) {
  for (const std::string& note : table.notes)
    if (note.find(part) != std::string::npos) return note;
  return std::nullopt;
}

TEST(Readers, TakeEveryWayInWhichACacheLabelsAFailure) {
  const Folder folder;
  std::string text = R"({"device_name": "d", "kernel_name": "k", "problem_size": 7, "tune_params_keys": ["i"],
    "cache": {"0": {"i": 0, "time": 2.0, "GFLOP/s": NaN, "requires": ["x"], "env": {"power": -Infinity}},)";
  int i = 0;
  for (const std::string label :
       {"\"time\": \"InvalidConfig\"", "\"time\": \"\"", "\"time\": null", "\"time\": NaN",
        "\"time\": Infinity", "\"time\": 1e20", "\"time\": 1.7976931348623157e308", "\"time\": 0",
        "\"time\": -1", "\"__error__\": \"CompilationFailedConfig\""})
    text += fmt::format("{}\"{}\": {{\"i\": {}, {}}}", ++i > 1 ? "," : "", i, i, label);
  const Table table = read_tables(folder.file("labels.json", text + "}}")).at(0);
  EXPECT_EQ(table.rows.size(), 11u);
  EXPECT_EQ(table.kernel, "k 7");
  for (const TableRow& row : table.rows)
    EXPECT_EQ(row.time_us, row.config.knobs[0].value == 0 ? std::optional(2000.0) : std::nullopt)
        << to_text(row.config);
  EXPECT_TRUE(note_with(table, "2 times that are 0, negative or infinite count as failures"));
}

TEST(Readers, LeaveWordsInsideOfTextsAlone) {
  const Folder folder;
  const std::string text =
      R"({"device_name": "NaN \" Infinity", "kernel_name": "k", "tune_params_keys": ["i"],
    "cache": {"NaN": {"i": "NaN", "time": 2.0}, "b": {"i": "-Infinity", "time": NaN}}})";
  const Table table = read_tables(folder.gzipped("n.json.gz", text)).at(0);
  EXPECT_EQ(table.device, "NaN \" Infinity");
  EXPECT_EQ(row_of(table, "k(i=1)").time_us, 2000);  // "-Infinity" comes first
  EXPECT_EQ(row_of(table, "k(i=0)").time_us, std::nullopt);
}

TEST(Readers, TakeParametersOfAnyTypeAndNamesThatCollide) {
  const Folder folder;
  const std::string text = R"({"device_name": "", "problem_size": null,
    "tune_params": {"tile x": [[8, 8], [4, 16]], "tile_x": [null, "auto", 3], "o": [{}]},
    "cache": {"a": {"tile x": [8, 8], "tile_x": null, "o": {}, "time": 1},
              "b": {"tile x": [4, 16], "tile_x": "auto", "o": {}, "time": 2},
              "c": {"tile x": [4, 16], "tile_x": 3, "o": {}, "time": 3}}})";
  const Table table = read_tables(folder.gzipped("RTX 9.json.gz", text)).at(0);
  EXPECT_EQ(table.device, "RTX 9");
  EXPECT_EQ(table.kernel, "kernel");
  EXPECT_TRUE(note_with(table, "it has no \"device_name\"; \"RTX 9\" stands for it"));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(row_of(table, "kernel(o=0, tile_x=1, tile_x_2=0)").time_us, 1000);
  EXPECT_EQ(row_of(table, "kernel(o=0, tile_x=0, tile_x_2=2)").time_us, 2000);
  EXPECT_EQ(row_of(table, "kernel(o=0, tile_x=0, tile_x_2=1)").time_us, 3000);
}

Record record_of(const std::string& config, std::optional<double> us, const std::string& device) {
  Record record;
  record.workload = "gemm m=8 n=8 k=8 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";
  record.device = device;
  record.target = "cpu";
  record.arch = "avx2";
  record.config = parse_config(config);
  record.session = "s";
  if (us) {
    Timing timing;
    timing.time_us = *us;
    timing.samples_us = {*us};
    record.outcome = timing;
  } else {
    record.outcome = Failure{FailureKind::kCompile, "no", {}};
  }
  return record;
}

TEST(Readers, TakeOurOwnLogsOneTablePerWorkloadAndDevice) {
  const Folder folder;
  const std::string path = folder.file("log.db", "");
  std::filesystem::remove(path);
  {
    Database database = Database::open(path);
    const std::string here = "cpu | Xeon | avx2 | cores=2 | driver= | g++",
                      there = "cpu | Zen | avx2 | cores=4 | driver= | g++";
    database.append(record_of("f(i=1)", 10, here));
    database.append(record_of("f(i=2)", std::nullopt, here));
    for (const double us : {30.0, 20.0, 70.0}) database.append(record_of("f(i=3)", us, here));
    database.append(record_of("f(i=1)", 5, there));
    database.append(
        record_of("f(i=1)", std::nullopt, "cpu | nothing timed | avx2 | cores=1 | driver= | g++"));
  }
  const std::vector<Table> tables = read_tables(path);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].device, "Xeon, 2 cores");
  EXPECT_EQ(tables[0].rows.size(), 3u);
  EXPECT_EQ(row_of(tables[0], "f(i=3)").time_us, 30);
  EXPECT_EQ(row_of(tables[0], "f(i=2)").time_us, std::nullopt);
  EXPECT_EQ(tables[1].device, "Zen, 4 cores");
  EXPECT_FALSE(tables[1].origin) << "its rows name no device";
}

// A log is replayed whatever became of its kernels. The message has the number of kernels that are others
// now.
TEST(Readers, CountTheTimedRowsOfALogWhoseKernelsAreOthersNow) {
  const Folder folder;
  const std::string path = folder.file("log.db", "");
  std::filesystem::remove(path);
  StoredDevice device;
  device.limits = archs_of(Target()).limits("avx2", 2);
  device.limits.l1_bytes = 32 << 10;
  device.name = "Xeon";
  device.identity = identity_of(device);
  const Workload workload = parse_workload(record_of("f()", 1, "").workload);
  const std::vector<Config> configs = families_for(catalog(), workload, device.limits).defaults;
  {
    Database database = Database::open(path);
    const std::uint64_t known = database.append(device);
    const auto append = [&](std::optional<double> us, std::uint64_t changed) {
      Record record = record_of(to_text(configs[0]), us, device.identity);
      record.source_hash = hash_of(emit(lower(workload, record.config, device.limits))) ^ changed;
      record.device_hash = known;
      database.append(record);
    };
    append(10, 0);
    append(11, 0);
    append(12, 1);
    append(std::nullopt, 1);  // a failed trial has no time that could belong to another kernel
    Record gone = record_of("f(i=1)", 5, device.identity);
    gone.source_hash = 5;
    database.append(gone);
  }
  const std::vector<Table> tables = read_tables(path);
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].other_kernels, 2u);
  EXPECT_EQ(tables[0].origin->limits.l1_bytes, 32 << 10);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "the test is wrong" : text.replace(at, from.size(), to);
}

TEST(Readers, SayOfABadFileWhatIsWrongAndWhere) {
  const Folder folder;
  const struct {
    std::string text, says;
  } cases[] = {
      {"", "is empty"},
      {"hello", "is not a whole JSON file (parse error at line 1, column 1"},
      {R"({"tune_params_keys": ["a"], "cache": {)"
       "\n",
       "holds 0 rows, none of which has a time"},
      {"[1, 2]", "no Kernel Tuner cache: it must be an object with \"cache\""},
      {"{\"a\": 1}", "no Kernel Tuner cache"},
      {replaced(replaced(kCache, "tune_params_keys", "keys"), "\"tune_params\"", "\"values\""),
       "\"tune_params_keys\" is missing"},
      {replaced(kCache, "[\"block_size_x\", \"use\", \"mode\"]", "[]"),
       "\"tune_params_keys\" must be a list"},
      {replaced(replaced(kCache, "32,false,fast", "32,false"), "\"mode\": \"fast\", \"time\": 1.5",
                "\"time\": 1.5"),
       "configuration \"32,false\": \"mode\" is missing"},
      {replaced(kCache, "\"time\": 1.5", "\"time\": [1.5]"),
       "configuration \"32,false,fast\": \"time\" must be milliseconds"},
      {replaced(replaced(kCache, "\"time\": 1.5", "\"time\": \"no\""), "\"time\": 0.75", "\"time\": \"no\""),
       "holds 4 rows, none of which has a time"},
  };
  for (const auto& each : cases) {
    const std::string path = folder.file("bad.json", each.text);
    try {
      read_tables(path);
      ADD_FAILURE() << each.says << ": was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      EXPECT_THAT(error.what(), HasSubstr(each.says));
      EXPECT_THAT(error.what(), HasSubstr(path));
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

TEST(Readers, RefuseACutOffGzipFileAMissingOneAndAFolder) {
  const Folder folder;
  std::string long_text = kCache;
  for (int i = 0; i < 20000; ++i) long_text += static_cast<char>(' ' + (i * 7919) % 90);
  const std::string path = folder.gzipped("cut.gz", long_text);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto says = [](const std::string& file) {
    try {
      read_tables(file);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUser);
      return std::string(error.what());
    }
    return std::string("was read");
  };
  EXPECT_THAT(says(path), HasSubstr("must be a whole gzip file"));
  EXPECT_THAT(says(path + ".not"), HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(says(std::filesystem::path(path).parent_path().string()), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace lehr::testing
