// Tests of records and verdicts as rows: nothing is lost, and no change goes unseen.
#include "database/record_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "database/schema.h"
#include "tests/database/support.h"

namespace lehr {
namespace {

using test::describe;
using test::error_of;
using test::random_record;

Record complete(Rng& rng) {
  Record record = random_record(rng);
  record.id = "id" + std::to_string(rng.next());
  record.created_unix_ms = 1'700'000'000'000;
  return record;
}

TEST(RecordCodec, GivesBackEveryFieldOfBothOutcomeKinds) {
  const std::uint64_t seed = 20240611;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int i = 0; i < 2000; ++i) {
    const Record record = complete(rng);
    const std::optional<Record> got = decode_record(encode(record));
    ASSERT_TRUE(got.has_value()) << describe(record);
    ASSERT_EQ(describe(*got), describe(record)) << "record " << i;
    ASSERT_EQ(got->config, record.config);
  }
}

TEST(RecordCodec, SeesAChangeInAnyColumn) {
  const std::uint64_t seed = 77;
  SCOPED_TRACE("seed " + std::to_string(seed));
  Rng rng(seed);
  for (int i = 0; i < 200; ++i) {
    const sqlite::Row row = encode(complete(rng));
    for (std::size_t column = 0; column < row.size(); ++column) {
      sqlite::Row changed = row;
      sqlite::Value& value = changed[column];
      if (auto* text = std::get_if<std::string>(&value)) {
        text->empty() ? text->push_back('x') : static_cast<void>(text->back() ^= 1);
      } else if (auto* integer = std::get_if<std::int64_t>(&value)) {
        *integer ^= std::int64_t{1} << rng.below(64);
      } else if (auto* real = std::get_if<double>(&value)) {
        *real = std::isinf(*real) ? 1 : std::nextafter(*real, std::numeric_limits<double>::infinity());
      } else {
        value = std::int64_t{0};
      }
      EXPECT_FALSE(decode_record(changed).has_value()) << trial_table().columns[column].name;
    }
  }
}

TEST(RecordCodec, SeesTwoTextsThatSwapTheirBorder) {
  const std::vector<Column> columns = {{"a"}, {"b"}};
  EXPECT_NE(row_checksum(columns, std::vector<sqlite::Value>{"xy", "z"}),
            row_checksum(columns, std::vector<sqlite::Value>{"x", "yz"}));
}

TEST(RecordCodec, KeepsItsPersistedChecksumForEver) {
  // The canonical text as README.md specifies it; a change of either breaks every database that exists.
  const std::vector<Column> columns = {{"n"}, {"i"}, {"r"}, {"t"}};
  const std::vector<sqlite::Value> values = {std::monostate(), std::int64_t{-5}, 1.0, std::string("a\nb")};
  const std::string text = "n=null\ni=i-5\nr=r3ff0000000000000\nt=t3:a\nb\n";
  EXPECT_EQ(row_checksum(columns, values), stable_hash(text));
}

// The checksum covers the columns in this order. It is stored, so the order is fixed for ever.
TEST(RecordCodec, KeepsTheOrderOfTheColumns) {
  const auto names_of = [](const LogTable& table) {
    std::string names;
    for (const Column& column : table.columns) names += std::string(column.name) + " ";
    return names;
  };
  EXPECT_EQ(names_of(trial_table()),
            "id workload device target arch family config template_version outcome time_us samples_us spread "
            "reference_us max_error run_s failure registers spill_bytes shared_bytes stack_bytes compile_s "
            "advisories predicted picked_by session session_began_unix_ms seed created_unix_ms tool_version "
            "device_hash source_hash checksum ");
  EXPECT_EQ(
      names_of(verdict_table()),
      "workload device session record_id default_us best_us baseline baseline_us speedup_vs_default "
      "speedup_vs_baseline json created_unix_ms default_us_low default_us_high best_us_low best_us_high "
      "speedup_vs_default_low speedup_vs_default_high speedup_vs_baseline_low speedup_vs_baseline_high "
      "deterministic algorithms_tried algorithms provisional checksum ");
  EXPECT_EQ(names_of(device_table()),
            "identity name target arch facts driver compiler os uuid cold checksum ");
  EXPECT_EQ(
      names_of(algorithm_table()),
      "workload device session baseline library list algorithm mark tried offered created_unix_ms checksum ");
}

TEST(RecordCodec, RefusesToStoreWhatIsNoMeasurement) {
  Rng rng(1);
  Record record = complete(rng);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
    Timing timing;
    timing.time_us = bad;
    record.outcome = timing;
    EXPECT_THROW(encode(record), Error) << bad;
  }
  record.outcome = Failure{};
  record.predicted = nan;
  EXPECT_THROW(encode(record), Error);
}

TEST(RecordCodec, KnowsTheColumnsOfTheSchemaWithTheirTypes) {
  const sqlite::Connection connection(":memory:", sqlite::Mode::kReadWrite);
  make_log(connection);
  for (const LogTable* table : log_tables()) {
    std::set<std::string> expected = {"seq INTEGER 0"}, got;
    for (const Column& column : table->columns) {
      const char* type = column.type == ColumnType::kText      ? "TEXT"
                         : column.type == ColumnType::kInteger ? "INTEGER"
                                                               : "REAL";
      expected.insert(fmt::format("{} {} {}", column.name, type, column.nullable ? 0 : 1));
    }
    sqlite::Statement info = connection.prepare(fmt::format(
        "SELECT name || ' ' || type || ' ' || \"notnull\" FROM pragma_table_info('{}')", table->name));
    while (info.step()) got.insert(info.get<std::string>(0));
    EXPECT_EQ(got, expected) << table->name;
    EXPECT_EQ(table->columns.back().name, "checksum");
  }
}

TEST(RecordCodec, RefusesRowsThatSayWhatNoTrialCanEvenIfTheirChecksumIsRight) {
  Record record = test::timed("w", "d", 5);
  record.id = "id";
  const sqlite::Row sound = encode(record);
  ASSERT_TRUE(decode_record(sound).has_value());
  ASSERT_TRUE(decode_record(test::changed(trial_table(), sound, "workload", "other")).has_value());
  const double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, sqlite::Value>>{{"id", ""},
                                                          {"time_us", 0.0},
                                                          {"time_us", -1.0},
                                                          {"time_us", infinity},
                                                          {"time_us", std::monostate()},
                                                          {"samples_us", "[1,inf]"},
                                                          {"samples_us", "[nan]"},
                                                          {"samples_us", "[1,2"},
                                                          {"samples_us", "[1e999]"},
                                                          {"registers", huge},
                                                          {"template_version", -huge},
                                                          {"config", "gemm_cpu("},
                                                          {"config", "$(reboot)"},
                                                          {"config", "other(mr=8, nr=2)"},
                                                          {"outcome", "splendid"},
                                                          {"failure", "and failed"}})
    EXPECT_FALSE(decode_record(test::changed(trial_table(), sound, name, value)).has_value()) << name;
}

TEST(VerdictCodec, GivesBackEveryField) {
  StoredVerdict v;
  v.workload = "w";
  v.device = "d";
  v.session = "s";
  v.record_id = "r";
  v.default_time.us = 2.5;
  v.best.us = 1.25;
  v.baseline = "OpenBLAS";
  v.baseline_us = 1.5;
  v.speedup_vs_default.value = 2;
  v.speedup_vs_baseline.value = 1.2;
  v.json = "{\"a\": 1}";
  v.created_unix_ms = 99;
  const sqlite::Row row = encode(v);
  const std::optional<StoredVerdict> got = decode_verdict(row);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(encode(*got), row);
  EXPECT_EQ(got->record_id, "r");
  EXPECT_EQ(got->json, v.json);
  EXPECT_EQ(got->speedup_vs_baseline.value, 1.2);
  sqlite::Row changed = row;
  changed[5] = 0.5;
  EXPECT_FALSE(decode_verdict(changed).has_value());
}

TEST(VerdictCodec, KeepsIntervalsInColumnsAndNotInTheDocument) {
  StoredVerdict v = test::verdict("w", "d", "id");
  v.json = "no document at all";
  v.best = {5, {4.5, 5.5}};
  v.default_time = {10, {9, 11}};
  v.speedup_vs_default = {2, {1.9, 2.1}};
  v.speedup_vs_baseline = {1.5, {1.25, 1.75}};
  v.deterministic = false;
  const std::optional<StoredVerdict> got = decode_verdict(encode(v));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->best.interval, v.best.interval);
  EXPECT_EQ(got->default_time.interval, v.default_time.interval);
  EXPECT_EQ(got->speedup_vs_default.interval, v.speedup_vs_default.interval);
  EXPECT_EQ(got->speedup_vs_baseline.interval, v.speedup_vs_baseline.interval);
  EXPECT_EQ(got->deterministic, false);
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, double>>{{"best_us_low", 6.0},
                                                   {"best_us_low", -1.0},
                                                   {"best_us_high", std::numeric_limits<double>::infinity()}})
    EXPECT_FALSE(decode_verdict(test::changed(verdict_table(), encode(v), name, value)).has_value()) << name;
}

TEST(VerdictCodec, TellsHowManyAlgorithmsTheBaselineHasTried) {
  StoredVerdict v = test::verdict("w", "d", "id");
  EXPECT_EQ(decode_verdict(encode(v))->algorithms, 0);
  v.algorithms_tried = 3;
  v.algorithms = 16;
  const std::optional<StoredVerdict> got = decode_verdict(encode(v));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->algorithms_tried, 3);
  EXPECT_EQ(got->algorithms, 16);
  EXPECT_FALSE(
      decode_verdict(test::changed(verdict_table(), encode(v), "algorithms_tried", std::int64_t{17})));
}

TEST(AlgorithmCodec, GivesBackEveryField) {
  const StoredAlgorithm algorithm = test::stored_algorithm("s1", 2);
  const std::optional<StoredAlgorithm> got = decode_algorithm(encode(algorithm));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(static_cast<const FoundAlgorithm&>(*got), static_cast<const FoundAlgorithm&>(algorithm));
  EXPECT_EQ(encode(*got), encode(algorithm));
  EXPECT_EQ(got->library, "cuDNN 9.19.0");
  EXPECT_EQ(got->list, 2);
}

TEST(AlgorithmCodec, RefusesNumbersThatNoSearchGives) {
  for (const auto& [name, value] : {std::pair{"algorithm", -1L},
                                    {"algorithm", 44},
                                    {"tried", 0},
                                    {"tried", 45},
                                    {"offered", 0},
                                    {"offered", 1L << 40},
                                    {"list", -1},
                                    {"list", 1000}}) {
    const sqlite::Row row =
        test::changed(algorithm_table(), encode(test::stored_algorithm("s1")), name, std::int64_t{value});
    EXPECT_FALSE(decode_algorithm(row).has_value()) << name << "=" << value;
  }
}

TEST(DeviceCodec, GivesBackEveryField) {
  StoredDevice device = test::stored_gpu("NVIDIA H100 PCIe", 114);
  device.limits.l2_bytes = 50 << 20;
  device.limits.peak_gflops_f32 = 51200.5;
  device.cold = true;
  const sqlite::Row row = encode(device);
  const std::optional<StoredDevice> got = decode_device(row);
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(encode(*got), row);
  EXPECT_EQ(got->identity, device.identity);
  EXPECT_EQ(got->name, device.name);
  EXPECT_EQ(got->limits.arch, "sm_90a");
  EXPECT_EQ(got->limits.cores, 114);
  EXPECT_EQ(got->limits.peak_gflops_f32, 51200.5);
  EXPECT_EQ(got->driver + got->compiler + got->os + got->uuid, "13.0NVRTC 13.0LinuxGPU-1");
  EXPECT_TRUE(got->cold);
  for (const char* facts : {"", "{", "[]", R"({"cores":-1})", R"({"cores":"many"})", R"({"cores":1e300})"})
    EXPECT_FALSE(decode_device(test::changed(device_table(), row, "facts", facts)).has_value()) << facts;
  EXPECT_FALSE(decode_device(test::changed(device_table(), row, "target", "opencl")).has_value());
  // A fact of a later version is passed over. A fact that the row lacks is 0: not known.
  const auto other = decode_device(test::changed(device_table(), row, "facts", R"({"cores":7,"new":[1,2]})"));
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->limits.cores, 7);
  EXPECT_EQ(other->limits.l2_bytes, 0);
}

}  // namespace
}  // namespace lehr
