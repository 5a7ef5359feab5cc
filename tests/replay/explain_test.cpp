// Tests of records with planted times and predictions, explained.
#include "replay/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "costmodel/features.h"
#include "replay/origin.h"
#include "target/archs.h"
#include "templates/catalog.h"
#include "tests/support/sample_config.h"

namespace lehr::testing {
namespace {

constexpr const char* kWorkload =
    "gemm m=96 n=80 k=64 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";

const LoggedFacts& facts() {
  static const LoggedFacts facts = [] {
    StoredDevice device;
    device.limits = archs_of(Target()).limits("avx2", 2);
    return LoggedFacts{{3, device}};
  }();
  return facts;
}

Record record_of(const Config& config, std::optional<double> us) {
  Record record;
  record.workload = kWorkload;
  record.device = "cpu | Somebody's CPU | avx2 | cores=2 | driver= | g++";
  record.target = "cpu";
  record.arch = "avx2";
  record.device_hash = 3;
  record.config = config;
  record.picked_by = "anneal";
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

/// Returns sampled kernels whose time is their value in one column.
std::vector<Record> kernels_ruled_by(std::string_view column, std::size_t count) {
  const TableOrigin origin = *origin_of(std::vector{record_of({}, 1)}, facts());
  const Space space = kernel_space(origin.workload, origin.limits).space;
  Rng rng(7);
  std::vector<Record> records;
  for (std::size_t i = 0; i < count; ++i) {
    const Config config = testing::sample_config(space, rng);
    const std::vector<float> row = featurize(lower(origin.workload, config, origin.limits), origin.limits);
    Record record = record_of(config, std::exp2(row[feature_index(column)]));
    record.template_version = template_named(config.family).version;
    records.push_back(record);
  }
  return records;
}

TEST(Explain, NamesTheColumnThatATimeIsMadeOfAndItsGroup) {
  const std::vector<Record> records = kernels_ruled_by("memory_instructions", 120);
  const auto explained = explain(records, facts());
  ASSERT_TRUE(explained);
  EXPECT_TRUE(explained->kernels);
  EXPECT_EQ(explained->older, 0u);
  EXPECT_EQ(explained->not_lowered, 0u);
  EXPECT_EQ(explained->columns[0].name, "memory_instructions");
  EXPECT_EQ(explained->columns[0].group, "kernel");
  EXPECT_THAT(explained->columns[0].meaning, ::testing::HasSubstr("accesses outside registers"));
  EXPECT_EQ(explained->groups[0].name, "kernel");
  EXPECT_GT(explained->held_out.spearman, 0.9);
  EXPECT_EQ(explained->held_out.rows, timed_configs(records));
  double gain = 0;
  for (const GroupWeight& group : explained->groups) gain += group.gain;
  EXPECT_NEAR(gain, 1, 1e-6);
  EXPECT_TRUE(std::ranges::is_sorted(explained->configs, {}, &ExplainedConfig::time_us));
}

std::vector<Record> knobs_of(std::size_t count) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < count; ++i) {
    const auto x = static_cast<std::int64_t>(i % 8), y = static_cast<std::int64_t>(i / 8);
    records.push_back(record_of({"gone", {{"x", x}, {"y", y}}}, 10 + std::abs(x - 3) + 0.01 * double(y)));
  }
  return records;
}

TEST(Explain, FallsBackToKnobsOfFamiliesThatAreNoMore) {
  const auto explained = explain(knobs_of(80), facts());
  ASSERT_TRUE(explained);
  EXPECT_FALSE(explained->kernels);
  EXPECT_TRUE(explained->groups.empty());
  EXPECT_EQ(explained->older, 80u) << "no template of today made them";
  EXPECT_THAT(explained->columns[0].name, ::testing::EndsWith("x"));
  EXPECT_GT(explained->held_out.spearman, 0.8);
}

TEST(Explain, CountsTrialsAndWhereTheyCameFrom) {
  std::vector<Record> records = knobs_of(40);
  records[0].picked_by = "default";
  records.push_back(record_of(records[1].config, 30));  // once more, slower
  records.back().session = "t";
  records.push_back(record_of({"gone", {{"x", 9}, {"y", 9}}}, std::nullopt));
  const auto explained = explain(records, facts());
  ASSERT_TRUE(explained);
  EXPECT_EQ(explained->trials, 42u);
  EXPECT_EQ(explained->timed, 41u);
  EXPECT_EQ(explained->failed, 1u);
  EXPECT_EQ(explained->sessions, 2u);
  EXPECT_EQ(explained->configs.size(), 40u);
  ASSERT_EQ(explained->picks.size(), 2u);
  EXPECT_EQ(explained->picks[0].picked_by, "anneal");
  EXPECT_EQ(explained->picks[0].trials, 41u);
  EXPECT_EQ(explained->picks[0].failed, 1u);
  EXPECT_EQ(explained->picks[1].picked_by, "default");
  EXPECT_EQ(explained->picks[1].best_us, std::get<Timing>(records[0].outcome).time_us);
  EXPECT_TRUE(explained->stored.empty()) << "nothing was predicted";
}

TEST(Explain, JudgesStoredPredictionsPerSessionAndNearOnesApart) {
  std::vector<Record> records = knobs_of(80);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const double us = std::get<Timing>(records[i].outcome).time_us;
    // Session a: right within each batch of 20, and each batch's scale below the one before. Session b:
    // wrong.
    if (i < 40) {
      records[i].session = "a";
      records[i].predicted = -us - (i < 20 ? 0 : 1000);
    } else {
      records[i].session = "b";
      records[i].predicted = us;
    }
  }
  const auto explained = explain(records, facts());
  ASSERT_TRUE(explained);
  ASSERT_EQ(explained->stored.size(), 2u);
  EXPECT_EQ(explained->stored[0].session, "a");
  EXPECT_EQ(explained->stored[0].quality.rows, 40u);
  EXPECT_LT(explained->stored[0].quality.pairwise_accuracy, 0.85);
  EXPECT_GT(explained->stored[0].near_pairwise_accuracy, 0.85);
  EXPECT_LT(explained->stored[0].near_pairwise_accuracy, 1);
  EXPECT_EQ(explained->stored[1].quality.pairwise_accuracy, 0);
  EXPECT_NEAR(explained->stored[1].quality.spearman, -1, 1e-9);
  EXPECT_EQ(explained->stored[1].near_pairwise_accuracy, 0);
  const auto found = std::ranges::find(explained->configs, records[50].config, &ExplainedConfig::config);
  EXPECT_EQ(found->predicted, records[50].predicted);
}

TEST(Explain, NeedsTwentyTimedConfigs) {
  std::vector<Record> records = knobs_of(19);
  records.push_back(records[0]);  // no new config
  records.push_back(record_of({"gone", {{"x", 9}, {"y", 9}}}, std::nullopt));
  EXPECT_EQ(timed_configs(records), 19u);
  EXPECT_FALSE(explain(records, facts()));
  EXPECT_TRUE(explain(knobs_of(20), facts()));
}

TEST(Origin, HasAShortNameOfItsIdentity) {
  EXPECT_EQ(short_name("cuda | NVIDIA H100 | sm_90a | cores=132 | driver=1"), "NVIDIA H100, 132 cores");
  EXPECT_EQ(short_name("cpu | Xeon | avx2 | cores=2 | driver= | g++ -O2 -march=x86-64-v3"),
            "Xeon as x86-64-v3, 2 cores");
}

TEST(Origin, HasTheFactsThatTheNewestRowNames) {
  StoredDevice device;
  device.limits.target = *target_named("cuda");
  device.limits.arch = "sm_999";  // that this version does not know
  device.limits.cores = 114;
  device.limits.shared_bytes_per_block = 77 << 10;
  const LoggedFacts facts = {{5, device}};
  std::vector<Record> rows = {record_of({"f", {}}, 1), record_of({"f", {}}, 2), record_of({"f", {}}, 3)};
  rows[0].device_hash = 4;  // a row that the log has lost
  rows[1].device_hash = 5;
  ASSERT_TRUE(origin_of(rows, facts));
  EXPECT_EQ(origin_of(rows, facts)->limits.arch, "sm_999");
  EXPECT_EQ(origin_of(rows, facts)->limits.cores, 114);
  EXPECT_EQ(origin_of(rows, facts)->limits.shared_bytes_per_block, 77 << 10);
  EXPECT_FALSE(origin_of({rows.data(), 1}, facts));
}

}  // namespace
}  // namespace lehr::testing
