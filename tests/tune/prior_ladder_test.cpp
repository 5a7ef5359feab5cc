// Compares the analytic prior with a ladder of structures that an H200 has climbed, and tests what it picks
// for the shapes of the public kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "costmodel/features.h"
#include "costmodel/metrics.h"
#include "costmodel/roofline_model.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"
#include "tune/first_picks.h"
#include "tune/tile_diversity.h"

namespace lehr {
namespace {

Workload square(int size) {
  const std::string n = std::to_string(size);
  return parse_workload("gemm m=" + n + " n=" + n + " k=" + n + " a=bf16 b=bf16:column c=bf16");
}
const Limits kHopper = cuda_limits("sm_90a");

double prior_us(const Workload& workload, const Config& config, const Limits& limits = kHopper) {
  return RooflineModel(limits).time_us(featurize(lower(workload, config, limits), limits));
}
double term_us(const Workload& workload, const Config& config, std::string_view name,
               const Limits& limits = kHopper) {
  for (const TimeTerm& term : RooflineModel(limits).terms(featurize(lower(workload, config, limits), limits)))
    if (term.name == name) return term.us;
  ADD_FAILURE() << "no term " << name;
  return 0;
}

/// Returns the configs of `step`, in the order of the file.
std::vector<Config> rungs(const std::string& step) {
  std::ifstream file(LEHR_SOURCE_DIR "/bench/gpu/ladder.txt");
  std::vector<Config> configs;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(step + " ")) configs.push_back(parse_config(line.substr(step.size() + 1)));
  return configs;
}

Config with(Config config, std::string_view name, std::int64_t value) {
  for (auto& each : config.knobs)
    if (each.name == name) each.value = value;
  return config;
}

/// A config that an H200 has timed in a contest, and the prior's time of it.
struct Rung {
  Config config;
  double measured_us, prior_us;
};

/// Returns the committed results of the step bf16_4096, without those whose knobs are gone.
std::vector<Rung> measured_ladder() {
  std::ifstream file(LEHR_SOURCE_DIR "/bench/results/gpu/bench_ladder_bf16_4096.json");
  const nlohmann::json document = nlohmann::json::parse(file);
  const Space space = kernel_space(square(4096), kHopper).space;
  std::vector<Rung> ladder;
  for (const nlohmann::json& each : document.at("result").at("entries")) {
    const std::string what = each.at("what");
    if (!what.starts_with("gemm_wgmma(")) continue;
    if (const auto point = space.find(parse_config(what))) {
      const Config config = space.config_of(*point);
      ladder.push_back({config, each.at("time_us"), prior_us(square(4096), config)});
    }
  }
  return ladder;
}

TEST(PriorLadder, HasTheOrderOfTheMeasuredOne) {
  std::vector<Rung> ladder = measured_ladder();
  ASSERT_EQ(ladder.size(), 16u);
  std::vector<double> prior, measured;
  for (const Rung& rung : ladder) {
    prior.push_back(rung.prior_us);
    measured.push_back(rung.measured_us);
  }
  EXPECT_GE(spearman(prior, measured), 0.8);
  const double best = std::ranges::min(measured);
  std::ranges::stable_sort(ladder, {}, &Rung::prior_us);
  EXPECT_LE(ladder[0].measured_us, 1.05 * best) << to_text(ladder[0].config);
  double best_of_four = ladder[0].measured_us;
  for (std::size_t i = 1; i < 4; ++i) best_of_four = std::min(best_of_four, ladder[i].measured_us);
  EXPECT_LE(best_of_four, 1.02 * best);
}

/// 512 tiles are four turns of 132 multiprocessors and five of the 120 that hold clusters of four or eight.
TEST(PriorLadder, LargeClustersLeaveMultiprocessorsIdleAndSmallOnesGainNothing) {
  const Config alone = rungs("bf16_4096")[4];
  ASSERT_EQ(alone.find("cluster_bm"), 1);
  const double us = prior_us(square(4096), alone);
  for (const std::int64_t persistent : {0, 1})
    for (const auto& [bm, bn] : {std::pair{2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}, {2, 4}}) {
      Config clustered = with(with(alone, "cluster_bm", bm), "cluster_bn", bn);
      clustered = with(with(clustered, "persistent", persistent), "raster", 4);
      const double loss = prior_us(square(4096), clustered) / us;
      SCOPED_TRACE(to_text(clustered));
      if (bm * bn == 2) {
        EXPECT_NEAR(loss, 1, 0.04);
      } else {
        EXPECT_GT(loss, 1.1);
        EXPECT_LT(loss, 1.3);
      }
    }
}

TEST(PriorLadder, IsNotWonByTwoStages) {
  const Config winner = rungs("bf16_4096")[8];
  ASSERT_EQ(winner.find("stages"), 4);
  EXPECT_LT(1.1 * prior_us(square(4096), winner), prior_us(square(4096), with(winner, "stages", 2)));
}

TEST(PriorLadder, CountingStagesCostsTheTensorCoresNothing) {
  const Config four = rungs("bf16_4096")[3],
               three = with(four, "stages", 3);  // step % 3 is a division, step % 4 is not
  EXPECT_NEAR(term_us(square(4096), three, "compute"), term_us(square(4096), four, "compute"), 1e-6);
}

/// By hand: each of 512 tiles reads 64 times 384 rows of 128 bytes, and C is written.
TEST(PriorLadder, TilesThatDoNotDivideTheGridReadNoMore) {
  const double bytes = 512.0 * 64 * 384 * 128 + 4096.0 * 4096 * 2;
  for (const std::size_t rung : {2, 3}) {
    const auto row = featurize(lower(square(4096), rungs("bf16_4096")[rung], kHopper), kHopper);
    EXPECT_NEAR(std::exp2(row[feature_index("l1_traffic")]), bytes, 0.03 * bytes) << rung;
  }
  // The busiest blocks have 4 of 3.88 tiles, in whichever order they get them.
  const auto once = featurize(lower(square(4096), rungs("bf16_4096")[2], kHopper), kHopper);
  const auto several = featurize(lower(square(4096), rungs("bf16_4096")[3], kHopper), kHopper);
  const std::size_t efficiency = feature_index("wave_efficiency");
  EXPECT_NEAR(once[efficiency], 512.0 / 528, 1e-3);
  EXPECT_NEAR(several[efficiency], 512.0 / 528, 0.01);
}

TEST(PriorLadder, TheFeaturesCountWhatTheRungsChange) {
  const std::vector<Config> configs = rungs("bf16_4096");
  const auto count = [&](std::size_t rung, std::string_view column) {
    const auto row = featurize(lower(square(4096), configs[rung], kHopper), kHopper);
    return std::exp2(row[feature_index(column)]) - 1;
  };
  const double steps = 512 * 64, tolerance = 0.01 * steps;
  EXPECT_NEAR(count(2, "stage_turns"), steps, 1);
  EXPECT_NEAR(count(3, "stage_turns"), steps, tolerance);  // unequal turns, sampled
  EXPECT_NEAR(count(3, "product_waits"), steps, tolerance);
  EXPECT_NEAR(count(4, "product_waits"), 512, 0.01 * 512);  // at the end of each tile only
  EXPECT_EQ(count(5, "accelerator_written"), 0);
  EXPECT_NEAR(count(6, "accelerator_written"), 4096.0 * 4096 * 2, 0.01 * 4096 * 4096 * 2);
  const auto cluster = featurize(lower(square(4096), configs[5], kHopper), kHopper);
  EXPECT_EQ(cluster[feature_index("cluster_blocks")], 2);
}

TEST(PriorLadder, TheL2DoesNotFollowTheMemory) {
  Limits h100 = kHopper;
  h100.dram_gbytes_per_s = 3350;  // NVIDIA's datasheets: the same chip with HBM3 and with HBM3e
  const Config config = rungs("bf16_4096")[3];
  EXPECT_EQ(term_us(square(4096), config, "l2"), term_us(square(4096), config, "l2", h100));
  EXPECT_LT(term_us(square(4096), config, "dram"), term_us(square(4096), config, "dram", h100));
}

/// Returns what a cold session measures first: 16 configs and the rest of the batch.
std::vector<FirstPick> picks_for(const Workload& workload, std::uint64_t seed) {
  Task task = task_of(workload, {});
  task.device.limits = kHopper;
  std::vector<FirstPick> picks = first_picks(candidates_for(task), kHopper, seed, 2);
  if (picks.size() > 16) picks.resize(16);
  return picks;
}

/// True of the structure of the kernels that win at 4096 and 8192 cubed, with a cluster of two or without
/// one.
bool is_of_winners(const Config& config) {
  return config.find("bm") == 128 && config.find("bn") == 256 && config.find("consumers") == 2 &&
         config.find("ping_pong") == 0 && config.find("persistent") == 1 &&
         config.find("cluster_bm").value_or(0) * config.find("cluster_bn").value_or(0) <= 2 &&
         config.find("stages") >= 3;
}

void expect_several_kinds(const std::vector<FirstPick>& picks) {
  std::set<std::tuple<std::string, std::int64_t, std::int64_t>> tiles;
  std::set<std::pair<std::int64_t, std::int64_t>> clusters;
  for (const FirstPick& pick : picks) {
    if (!pick.config.find("bm")) continue;
    tiles.insert({pick.config.family, *pick.config.find("bm"), *pick.config.find("bn")});
    if (pick.config.find("cluster_bm"))
      clusters.insert({*pick.config.find("cluster_bm"), *pick.config.find("cluster_bn")});
  }
  EXPECT_GE(tiles.size(), 6U);
  EXPECT_GE(clusters.size(), 3U);
}

TEST(PriorPicks, HoldTheWinningStructureOfLargeSquares) {
  for (const int size : {4096, 8192}) {
    const std::vector<FirstPick> picks = picks_for(square(size), 1);
    SCOPED_TRACE(size);
    ASSERT_EQ(picks.size(), 16U);
    EXPECT_TRUE(std::ranges::any_of(picks, [](const FirstPick& pick) { return is_of_winners(pick.config); }));
    expect_several_kinds(picks);
  }
}

TEST(PriorPicks, HoldSwappedSidesOrPartsOfKForFewRows) {
  const std::vector<FirstPick> picks =
      picks_for(parse_workload("gemm m=16 n=4096 k=4096 a=bf16 b=bf16:column c=bf16"), 1);
  ASSERT_EQ(picks.size(), 16U);
  EXPECT_TRUE(std::ranges::any_of(picks, [](const FirstPick& pick) {
    return pick.config.find("swap_ab") == 1 || pick.config.find("split_k").value_or(1) > 1;
  }));
  expect_several_kinds(picks);
}

TEST(TileDiversity, AreThreeOfATileAndOneOfATileAndCluster) {
  FamilySpace clustered("clustered"), plain("plain"), other("other");
  for (FamilySpace* family : {&clustered, &plain}) {
    family->add("bm", "rows", {64, 128});
    family->add("bn", "columns", {64});
  }
  clustered.add("cluster_bm", "blocks", {1, 2, 4, 8});
  clustered.add("cluster_bn", "blocks", {1});
  for (FamilySpace* family : {&clustered, &plain, &other}) family->add("rest", "anything", {0, 1, 2, 3, 4});
  std::vector<FamilySpace> families = {clustered, plain, other};
  const Space space(std::move(families));
  std::vector<ScoredPoint> all;
  GridCursor cursor(space);
  while (const auto point = cursor.next()) all.push_back({*point, 0});
  TileDiversity kinds(space);
  std::map<std::string, int> picked;
  for (const std::size_t i : kinds.choose(all, all.size())) {
    const Config config = space.config_of(all[i].point);
    ++picked[config.family + " " + std::to_string(config.find("bm").value_or(0))];
  }
  const std::map<std::string, int> expected = {
      {"clustered 64", 3}, {"clustered 128", 3}, {"plain 64", 3}, {"plain 128", 3}, {"other 0", 5}};
  EXPECT_EQ(picked, expected);
  EXPECT_THAT(kinds.choose(all, 4),
              ::testing::ElementsAre(0, 5, 10, 20));  // a cluster each, then the other tile
  kinds.note(all[0].point);
  EXPECT_THAT(kinds.choose(all, 2), ::testing::ElementsAre(5, 10));
}

}  // namespace
}  // namespace lehr
