// Tests of the small parts of a tuning: stop rules, pool, scorer, learner, trials, judgement, summary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "measure/worker/backends.h"
#include "support.h"
#include "tune/finals.h"
#include "tune/learner.h"
#include "tune/scorer.h"
#include "tune/stop.h"
#include "tune/trials.h"

namespace lehr::testing {
namespace {

TEST(StopRules, FireAtTheirLimitAndNotBefore) {
  const StopRules rules = {.trials = 10, .time_s = 60, .plateau_trials = 5, .failing_trials = 8};
  const auto at = [&](Progress standing) { return should_stop(rules, standing); };
  EXPECT_EQ(at({.trials = 9, .timed = 9}), std::nullopt);
  EXPECT_EQ(at({.trials = 10, .timed = 9}), StopReason::kTrials);
  EXPECT_EQ(at({.trials = 1, .timed = 1, .elapsed_s = 51, .finals_s = 8}), std::nullopt);
  EXPECT_EQ(at({.trials = 1, .timed = 1, .elapsed_s = 52, .finals_s = 8}), StopReason::kTime);
  EXPECT_EQ(at({.trials = 8, .timed = 0}), StopReason::kFailing);
  EXPECT_EQ(at({.trials = 8, .timed = 1}), std::nullopt);
  EXPECT_EQ(at({.trials = 9, .timed = 9, .trials_since_gain = 5, .model_expects_gain = true}), std::nullopt);
  EXPECT_EQ(at({.trials = 9, .timed = 9, .trials_since_gain = 5, .model_expects_gain = false}),
            StopReason::kPlateau);
}

TEST(StopRules, ZeroMeansNoLimit) {
  const StopRules none = {.trials = 0, .time_s = 0, .plateau_trials = 0, .failing_trials = 0};
  EXPECT_EQ(should_stop(none, {.trials = 1000000,
                               .timed = 0,
                               .trials_since_gain = 1000000,
                               .model_expects_gain = false,
                               .elapsed_s = 1e9,
                               .finals_s = 0}),
            std::nullopt);
}

TEST(StopRules, EveryReasonHasANameAndASentence) {
  for (const StopReason reason : {StopReason::kTrials, StopReason::kTime, StopReason::kPlateau,
                                  StopReason::kExhausted, StopReason::kFailing, StopReason::kInterrupted}) {
    EXPECT_FALSE(name_of(reason).empty());
    EXPECT_FALSE(explain(reason, {}, {}).empty());
  }
}

TEST(StopRules, KeepAShareForTheFinals) {
  EXPECT_DOUBLE_EQ(finals_share_s(60, 5), 7.8);
  EXPECT_DOUBLE_EQ(finals_share_s(10, 5), 2);
  EXPECT_DOUBLE_EQ(finals_share_s(1, 0.5), 0.25);
  EXPECT_DOUBLE_EQ(finals_share_s(0, 1e6), 20);
}

TEST(StopRules, LimitTheSearchesOfLibrariesWhereTimeIsLimited) {
  EXPECT_DOUBLE_EQ(library_search_s({.trials = 64, .cut_searches = true}, 0), 0);
  EXPECT_DOUBLE_EQ(library_search_s({.trials = 0, .time_s = 20, .cut_searches = true}, 0), 1);
  EXPECT_DOUBLE_EQ(library_search_s({.trials = 0, .cut_searches = true}, 5), 1);
  EXPECT_DOUBLE_EQ(library_search_s({.trials = 0, .time_s = 20}, 0), 0);
}

TEST(Scorer, GivesTheSameRowsOnAnyNumberOfThreadsAndFromMemory) {
  const Candidates candidates = toy_candidates();
  const Limits limits = toy_task().device.limits;
  std::vector<Point> points;
  Rng rng(3);
  for (int i = 0; i < 300; ++i) points.push_back(candidates.space.sample(rng));
  const std::size_t columns = candidates.columns;
  Scorer one(columns, candidates.row_of, 1);
  Scorer three(columns, candidates.row_of, 3);
  const FeatureMatrix a = one.features(points), b = three.features(points), again = three.features(points);
  ASSERT_EQ(a.rows(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::vector<float> expected = featurize(toy_kernel(candidates.space.config_of(points[i])), limits);
    EXPECT_TRUE(std::ranges::equal(a.row(i), expected));
    EXPECT_TRUE(std::ranges::equal(b.row(i), expected));
    EXPECT_TRUE(std::ranges::equal(again.row(i), expected));
  }
  EXPECT_LT(three.made(), 300u);  // samples repeat, and the second call remembers all

  const Predict sums = [](const FeatureMatrix& rows) {
    std::vector<double> result;
    for (std::size_t i = 0; i < rows.rows(); ++i)
      result.push_back(std::accumulate(rows.row(i).begin(), rows.row(i).end(), 0.0));
    return result;
  };
  FeatureMatrix expected(columns);
  for (std::size_t i = 0; i < points.size(); ++i) expected.append(a.row(i));
  for (const int threads : {1, 2, 3}) {
    Scorer scorer(columns, candidates.row_of, threads);
    EXPECT_EQ(scorer.score(points, sums), sums(expected)) << threads << " threads, rows to be made";
    EXPECT_EQ(scorer.score(points, sums), sums(expected)) << threads << " threads, rows remembered";
  }
}

TEST(Scorer, RanksWhatCannotBeLoweredLast) {
  Candidates candidates = toy_candidates();
  const Space& space = candidates.space;
  const auto lower = [&space](const Point& point) {
    const Config config = space.config_of(point);
    if (config.at("rows") == 4) throw Error(ErrorKind::kInternal, "no");
    return toy_kernel(config);
  };
  lower_by(lower, toy_task().device.limits, candidates);
  Scorer scorer(candidates.columns, candidates.row_of, 2);
  const Predict zeros = [](const FeatureMatrix& rows) { return std::vector<double>(rows.rows(), 0.0); };
  const Point four = space.point_of(toy_config(4, 1, 1, 0));
  const std::vector<Point> points = {space.point_of(toy_config(1, 1, 1, 0)), four, four};
  const std::vector<double> scores = scorer.score(points, zeros);
  EXPECT_TRUE(std::isfinite(scores[0]));
  EXPECT_EQ(scores[1], -INFINITY);
  EXPECT_EQ(scores[2], -INFINITY);
  EXPECT_EQ(scorer.score(points, zeros), scores);
}

TEST(Learner, FitsFirstAfterAFewRowsAndThenAtGrowingDistances) {
  NearestModel model;
  Learner learner(1, &model, nullptr);
  const std::vector<float> row = {1.0f};
  std::vector<int> at;
  for (int i = 1; i <= 400; ++i) {
    learner.add(row, 10 + i);
    if (!learner.due()) continue;
    learner.fit();
    at.push_back(i);
  }
  ASSERT_GT(at.size(), 5u);
  EXPECT_EQ(at[0], 8);
  EXPECT_EQ(at[1], 12);
  EXPECT_GE(at.back() - at[at.size() - 2], 40);
  EXPECT_EQ(model.fits, static_cast<int>(at.size()));
}

TEST(Learner, WithoutAModelNeverFits) {
  Learner learner(feature_table().size(), nullptr, nullptr);
  const std::vector<float> row(feature_table().size(), 1.0f);
  for (int i = 0; i < 100; ++i) learner.add(row, 10);
  EXPECT_FALSE(learner.due());
  EXPECT_FALSE(learner.fitted());
}

Point point_of(std::int64_t rows) {
  static const Space space = toy_candidates().space;
  return space.point_of(toy_config(rows, 1, 1, 0));
}

KnownTrial trial(std::int64_t rows, double us, std::uint64_t hash, Origin origin = Origin::kHere) {
  KnownTrial result;
  result.config = toy_config(rows, 1, 1, 0);
  result.point = point_of(rows);
  Timing timing;
  timing.time_us = us;
  result.outcome = timing;
  result.source_hash = hash;
  result.origin = origin;
  return result;
}

TEST(Trials, KnowTheBestAlsoWhenItIsMeasuredAgainAndLoses) {
  Trials trials;
  EXPECT_EQ(trials.best(), nullptr);
  trials.add(trial(1, 10, 1, Origin::kEarlier));
  trials.add(trial(2, 5, 2, Origin::kEarlier));
  EXPECT_EQ(*trials.best()->time_us(), 5);
  trials.add(trial(2, 20, 2));
  EXPECT_EQ(*trials.best()->time_us(), 10);
  EXPECT_EQ(trials.all().size(), 2u);
  EXPECT_EQ(trials.measured(), 1);
  EXPECT_EQ(trials.reused(), 2);
}

TEST(Trials, ALeadWithinTheNoiseIsNoGain) {
  Trials trials;
  trials.add(trial(1, 100, 1));
  trials.add(trial(2, 99.5, 2));
  trials.add(trial(4, 99.1, 3));
  EXPECT_EQ(trials.since_gain(), 2);
  trials.add(trial(8, 98.9, 4));
  EXPECT_EQ(trials.since_gain(), 0);
}

TEST(Finals, TakeDistinctKernelsFastestFirstWithoutTheDefault) {
  Trials trials;
  trials.add(trial(1, 10, 100));
  trials.add(trial(2, 9, 100));  // the default's kernel under another name
  trials.add(trial(4, 7, 200));
  trials.add(trial(8, 8, 200));
  trials.add(trial(16, 6, 300));
  EXPECT_EQ(pick_finalists(trials, point_of(1), 5), (std::vector<std::size_t>{4, 2}));
  EXPECT_EQ(pick_finalists(trials, point_of(1), 1), (std::vector<std::size_t>{4}));
}

}  // namespace
}  // namespace lehr::testing
