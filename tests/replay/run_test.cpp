// Tests of searches on tables: complete, repeatable, and better than chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/error.h"
#include "replay/read_table.h"
#include "replay/report.h"
#include "tests/replay/support.h"

namespace lehr::testing {
namespace {

ReplayOptions options_of(const std::string& strategy, std::size_t trials) {
  ReplayOptions options;
  options.strategy = strategy;
  options.trials = trials;
  return options;
}

class EachTuner : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Replay, EachTuner, ::testing::ValuesIn(strategy_names()),
                         [](const auto& info) { return info.param; });

TEST_P(EachTuner, MeasuresEveryRowOnceIfItMayAndEndsAtTheOptimum) {
  const Table table = bowl();
  const RecordedTask task(table, GetParam() == "autotvm");
  const std::vector<double> best = replay(task, options_of(GetParam(), 1000));
  EXPECT_EQ(best.size(), table.rows.size());
  EXPECT_TRUE(std::ranges::is_sorted(best, std::greater<>()));
  EXPECT_EQ(best.back(), table.optimum_us());
}

TEST_P(EachTuner, RepeatsItselfForTheSameSeed) {
  const Table table = bowl();
  const RecordedTask task(table, GetParam() == "autotvm");
  ReplayOptions options = options_of(GetParam(), 96);
  options.seed = 7;
  const std::vector<double> first = replay(task, options);
  EXPECT_EQ(first, replay(task, options));
  EXPECT_EQ(first.size(), 96u);
}

TEST(RecordedTask, HasAnAlignmentOfEachKnobAndProductAndQuotientOfEachTwo) {
  const Table table = bowl();
  EXPECT_EQ(RecordedTask(table, true).columns(), 3u);
  const RecordedTask task(table, false);
  ASSERT_EQ(task.columns(), 12u);
  Config config = table.rows[0].config;
  for (std::size_t i = 0; i < 3; ++i) config.knobs[i].value = i == 0 ? 6 : 3;
  std::vector<float> row(12), by_name(12);
  ASSERT_TRUE(task.row_of()(task.space().point_of(config), row));
  task.knobs()->row_of(config, by_name);
  EXPECT_EQ(row, by_name);
  EXPECT_EQ(row[0], 6);
  EXPECT_EQ(row[1], 1);                                        // 6 is a multiple of 2, not of 4
  EXPECT_FLOAT_EQ(row[4], std::log2(7.0f) + std::log2(4.0f));  // of 1 + 6 and 1 + 3
  EXPECT_FLOAT_EQ(row[5], std::log2(7.0f) - std::log2(4.0f));
}

TEST(RecordedTask, SaysHowManyKnobsASearchTakes) {
  Table table;
  table.file = "wide.json";
  Config& config = table.rows.emplace_back(Config{"k", {}}, 1.0).config;
  while (config.knobs.size() < kMostKnobs)
    config.knobs.push_back({fmt::format("x{}", config.knobs.size()), 1});
  EXPECT_EQ(space_of(table).families()[0].knobs().size(), kMostKnobs);
  config.knobs.push_back({"last", 1});
  try {
    space_of(table);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_STREQ(error.what(), "wide.json: k has 32 knobs; a search takes up to 31");
  }
}

TEST(RecordedTask, SaysHowManyValuesOfAKnobASearchTakes) {
  Table table;
  table.file = "long.json";
  for (std::size_t i = 0; i <= kMostValues; ++i)
    table.rows.push_back({Config{"k", {{"x", static_cast<std::int64_t>(i)}}}, 1.0});
  try {
    space_of(table);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUser);
    EXPECT_STREQ(error.what(), "long.json: k has 65536 different values of x; a search takes up to 65535");
  }
  table.rows.pop_back();
  EXPECT_EQ(space_of(table).families()[0].knobs()[0].values.size(), kMostValues);
}

TEST(PastTask, IsTakenOnlyFromTheSameKnobsOfAnotherRecording) {
  Table table = bowl();
  table.kernel = "k";
  table.device = "here";
  const RecordedTask task(table, false);
  Table other = table;
  EXPECT_FALSE(past_task(other, task)) << "the same kernel on the same device would be the answers";
  other.device = "there";
  const auto past = past_task(other, task);
  ASSERT_TRUE(past);
  EXPECT_EQ(past->rows.columns(), task.columns());
  EXPECT_EQ(past->times_us.size(), static_cast<std::size_t>(std::ranges::count_if(
                                       table.rows, [](const auto& row) { return row.time_us.has_value(); })));
  for (TableRow& row : other.rows) row.config.knobs[1].name = "w";
  EXPECT_FALSE(past_task(other, task));
}

TEST(ReplayTables, StartNearTheOptimumWithAnotherDevicesTable) {
  std::vector<Table> tables = {bowl(), bowl()};
  for (Table& table : tables) table.kernel = "k";
  tables[0].device = "a";
  tables[1].device = "b";
  ReplayPlan plan;
  plan.options = options_of("anneal", 16);
  plan.seeds = 3;
  plan.transfer = {&tables[1]};
  const auto reports = replay_tables(tables, plan, [](std::size_t, std::size_t) { return true; });
  EXPECT_EQ(reports[0].learnt_from.size(), 1u);
  EXPECT_EQ(reports[0].searched.fraction[0]->p10, 1);
  EXPECT_TRUE(reports[1].learnt_from.empty()) << "a table does not learn from itself";
}

TEST(ReplayTables, StopsWhenItIsToldTo) {
  const std::vector<Table> tables = {bowl(), bowl()};
  ReplayPlan plan;
  plan.options = options_of("random", 20);
  plan.seeds = 2;
  EXPECT_EQ(replay_tables(tables, plan, [](std::size_t, std::size_t) { return true; }).size(), 2u);
  EXPECT_EQ(replay_tables(tables, plan, [](std::size_t done, std::size_t) { return done < 3; }).size(), 1u);
}

// Every run of the tests checks the search's quality. The limits are below what the search reaches (README.md
// of replay/) by about as much as a change of the seeds moves it.
TEST(Quality, GuidedSearchOnARecordedGemmStaysFarAheadOfRandom) {
  const std::vector<Table> tables =
      read_tables(LEHR_SOURCE_DIR "/tests/data/kernel_tuner_gemm_RTX_3090.json.gz");
  ASSERT_EQ(tables.at(0).rows.size(), 4489u);
  ReplayPlan plan;
  plan.options = options_of("anneal", 128);
  plan.seeds = 5;
  const auto reports = replay_tables(tables, plan, [](std::size_t, std::size_t) { return true; });
  const Figures& searched = reports.at(0).searched;
  const Figures& random = reports.at(0).random;
  EXPECT_GE(searched.fraction[2]->median, 0.90);
  EXPECT_GE(searched.fraction[3]->median, 0.97);
  EXPECT_GE(searched.fraction[3]->p10, random.fraction[3]->median);
  ASSERT_TRUE(searched.trials_to[1]);
  EXPECT_LE(*searched.trials_to[1] * 3, *random.trials_to[1]);
  EXPECT_GE(searched.score, 0.6);
}

// Returns the table as if from another device: the same configs, but large tiles in M are up to 1.6 times
// slower there, so that its best config is another one.
Table elsewhere(Table table) {
  table.device = "elsewhere";
  for (TableRow& row : table.rows)
    for (const KnobValue& knob : row.config.knobs)
      if (row.time_us && knob.name == "MWG")
        row.time_us = *row.time_us * (1 + 0.6 * static_cast<double>(knob.value) / 128);
  return table;
}

/// Mean over the seeds of the logarithm of the trials to 95 % of the optimum, and of the best times after 16,
/// 32, 64 and 96.
struct Progress {
  double trials_to_95 = 0;
  std::array<double, 4> best{};
};

Progress progress(const Table& table, const Transfer* transfer, std::uint64_t seeds) {
  constexpr std::array<std::size_t, 4> kAt = {16, 32, 64, 96};
  const RecordedTask task(table, false);
  Progress mean;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    ReplayOptions options = options_of("anneal", 96);
    options.seed = seed;
    options.transfer = transfer;
    const std::vector<double> best = replay(task, options);
    const auto good = std::ranges::find_if(best, [&](double us) { return us <= table.optimum_us() / 0.95; });
    const double n = static_cast<double>(seeds);
    mean.trials_to_95 += std::log(static_cast<double>(good - best.begin() + 1)) / n;
    for (std::size_t i = 0; i < kAt.size(); ++i) mean.best[i] += std::log(best[kAt[i] - 1]) / n;
  }
  return mean;
}

TEST(Quality, NoSeedIsTrappedOnAKernelThatNoRuleWasChosenOn) {
  const std::vector<Table> tables =
      read_tables(LEHR_SOURCE_DIR "/tests/data/kernel_tuner_pnpoly_RTX_3060_laptop.json.gz");
  ASSERT_EQ(tables.at(0).rows.size(), 4092u);
  for (const std::size_t in_flight : {1U, 2U, 16U}) {
    ReplayPlan plan;
    plan.options = options_of("anneal", 128);
    plan.options.in_flight = in_flight;
    plan.seeds = 12;
    const auto reports = replay_tables(tables, plan, [](std::size_t, std::size_t) { return true; });
    const Figures& searched = reports.at(0).searched;
    const Figures& random = reports.at(0).random;
    EXPECT_GE(searched.fraction[2]->p10, random.fraction[2]->p10) << in_flight;
    EXPECT_GE(searched.fraction[3]->p10, random.fraction[3]->p10) << in_flight;
  }
}

TEST(Quality, HintsOfAnotherDeviceDoNotMakeASearchWorse) {
  const Table table = read_tables(LEHR_SOURCE_DIR "/tests/data/kernel_tuner_gemm_RTX_3090.json.gz").at(0);
  const Table other = elsewhere(table);
  const RecordedTask task(table, false);
  ReplayPlan plan;
  plan.transfer = {&other};
  const std::optional<Transfer> transfer = transfer_to(task, plan);
  ASSERT_TRUE(transfer);
  const Progress cold = progress(table, nullptr, 6), warm = progress(table, &*transfer, 6);
  EXPECT_LT(warm.trials_to_95, cold.trials_to_95 + 0.2);  // six seeds: their mean is good to a fifth
  EXPECT_LT(warm.best[0], cold.best[0] - 0.05) << "after 16 trials";
  // Later both are near the optimum: seeds differ by a percent.
  for (std::size_t i = 1; i < warm.best.size(); ++i) EXPECT_LT(warm.best[i], cold.best[i] + 0.01) << i;
}

}  // namespace
}  // namespace lehr::testing
