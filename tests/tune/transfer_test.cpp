// Tests of what other tasks contribute: ranking, first picks; and of searches with and without them.
#include "tune/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "base/rng.h"
#include "costmodel/metrics.h"
#include "search/anneal.h"
#include "tune/learner.h"
#include "tune/searcher.h"

namespace lehr::testing {
namespace {

constexpr std::size_t kColumns = 3;

// Returns the time of a config k(x, y) of 16 x 16; the fastest is at (best_x, 4).
double time_of(std::int64_t x, std::int64_t y, std::int64_t best_x) {
  return 100 * std::exp(0.1 * static_cast<double>(std::abs(x - best_x)) +
                        0.2 * static_cast<double>(std::abs(y - 4)));
}
std::vector<float> row_of(std::int64_t x, std::int64_t y) {
  return {static_cast<float>(x), static_cast<float>(y), 1};
}
// Returns x of a point in space(), whose knobs' values are their positions.
std::int64_t x_of(const Point& point) {
  return point.knobs[0];
}
std::int64_t y_of(const Point& point) {
  return point.knobs[1];
}
bool knob_rows(const Point& point, std::span<float> row) {
  std::ranges::copy(row_of(x_of(point), y_of(point)), row.begin());
  return true;
}
PastTask task(std::int64_t best_x, double scale = 1) {
  PastTask past{"best at " + std::to_string(best_x), 1, {}, FeatureMatrix(kColumns), {}};
  for (std::int64_t x = 0; x < 16; ++x)
    for (std::int64_t y = 0; y < 16; ++y) {
      past.configs.push_back(Config{"k", {{"x", x}, {"y", y}}});
      past.rows.append(row_of(x, y));
      past.times_us.push_back(scale * time_of(x, y, best_x));
    }
  return past;
}
Space space() {
  std::vector<std::vector<std::int64_t>> points;
  for (std::int64_t x = 0; x < 16; ++x)
    for (std::int64_t y = 0; y < 16; ++y) points.push_back({x, y});
  return Space({listed_family("k", {"x", "y"}, points)});
}

TEST(Transfer, RanksATaskThatItNeverSawByItsNeighbours) {
  const Transfer transfer({task(6), task(10, 1000)}, {});
  const PastTask unseen = task(8);
  std::vector<double> truth;
  for (const double time : unseen.times_us) truth.push_back(1 / time);
  EXPECT_GT(spearman(transfer.predict(unseen.rows), truth), 0.9);
}

TEST(Transfer, PicksTheBestOfEachTaskFirst) {
  const Transfer transfer({task(2), task(13)}, {});
  const Space all = space();
  const std::vector<Point> picks = transfer.first_picks(all, 6);
  ASSERT_EQ(picks.size(), 6u);
  const std::vector<std::string> first = {to_text(all.config_of(picks[0])), to_text(all.config_of(picks[1]))};
  EXPECT_THAT(first, ::testing::UnorderedElementsAre("k(x=2, y=4)", "k(x=13, y=4)"));
  EXPECT_EQ(Seen(picks.begin(), picks.end()).size(), 6u) << "they differ";
}

TEST(Transfer, PicksOnlyWhatTheSpaceHolds) {
  const Transfer transfer({task(2)}, {});
  const Space small({listed_family("k", {"x", "y"}, {{3, 4}, {20, 20}})});
  const std::vector<Point> picks = transfer.first_picks(small, 4);
  ASSERT_EQ(picks.size(), 1U);
  EXPECT_EQ(to_text(small.config_of(picks[0])), "k(x=3, y=4)");
}

TEST(Transfer, PicksNothingThatWasSlowEverywhere) {
  const Transfer transfer({task(2), task(13)}, {});
  // The first two are 10 % and 18 % slower than the one task's best, and far from the other's.
  const Space some({listed_family("k", {"x", "y"}, {{3, 4}, {2, 5}, {7, 9}})});
  const std::vector<Point> picks = transfer.first_picks(some, 8);
  ASSERT_EQ(picks.size(), 1U);
  EXPECT_EQ(to_text(some.config_of(picks[0])), "k(x=3, y=4)");
}

TEST(Transfer, SaysWhatItIsLearntFrom) {
  EXPECT_EQ(describe(Transfer({task(7), task(8), task(9)}, {})),
            "768 trials of 3 other tasks (nearest: best at 7)");
}

TEST(Learner, ScoresByOtherTasksAtOnceAndByItsOwnRowsInTheEnd) {
  // The other task's best is at x = 2, this one's at x = 13.
  const Transfer transfer({task(2)}, {});
  XgboostModel model;
  Learner learner(kColumns, &model, nullptr);
  EXPECT_FALSE(learner.ready());
  learner.start_from(transfer);
  ASSERT_TRUE(learner.ready());
  FeatureMatrix ends(kColumns);
  ends.append(row_of(2, 4));
  ends.append(row_of(13, 4));
  EXPECT_EQ(learner.predict(ends), transfer.predict(ends));
  Rng rng(3);
  for (std::size_t i = 1; i <= 120; ++i) {
    const auto x = static_cast<std::int64_t>(rng.below(16)), y = static_cast<std::int64_t>(rng.below(16));
    learner.add(row_of(x, y), time_of(x, y, 13));
    if (learner.due()) learner.fit();
    EXPECT_EQ(learner.fitted(), i >= LearnerOptions().first_fit);
  }
  const std::vector<double> scores = learner.predict(ends);
  EXPECT_LT(scores[0], scores[1]);
}

PastTask upside_down(std::int64_t best_x) {
  PastTask past = task(best_x);
  for (double& time : past.times_us) time = 1e4 / time;
  return past;
}

/// Returns a tuner on features of the knobs, without a prior.
Tuner plain_tuner(const Space& space) {
  Tuner tuner = annealing_tuner(space);
  tuner.model = std::make_unique<XgboostModel>();
  tuner.row_of = knob_rows;
  tuner.columns = kColumns;
  return tuner;
}

/// Searches `task` for its best and returns the times in the order of measurement, with so many in flight at
/// a time.
std::vector<double> search(Searcher& searcher, std::int64_t best_x, std::size_t trials,
                           std::size_t in_flight = 1) {
  std::vector<double> times;
  std::deque<Point> pending;
  Seen proposed;
  double best = 1e9;
  while (times.size() < trials) {
    while (pending.size() < in_flight) {
      searcher.refit_if_due();
      pending.push_back(searcher.next()->point);
      EXPECT_TRUE(proposed.insert(pending.back()).second) << "proposed twice";
    }
    const Point point = pending.front();
    pending.pop_front();
    times.push_back(time_of(x_of(point), y_of(point), best_x));
    best = std::min(best, times.back());
    const Measurement result{point, times.back()};
    searcher.observe({&result, 1}, best);
  }
  return times;
}

TEST(Searcher, FindsTheBestOfASmoothTaskInFewTrialsHoweverManyAreInHand) {
  const Space all = space();
  for (const std::size_t in_flight : {1U, 2U, 16U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      Searcher searcher(plain_tuner(all), seed, 1), again(plain_tuner(all), seed, 1);
      const std::vector<double> times = search(searcher, 11, 60, in_flight);
      EXPECT_LT(std::ranges::min(times), 100.001) << in_flight << " slots, seed " << seed;
      EXPECT_EQ(times, search(again, 11, 60, in_flight)) << in_flight << " slots, seed " << seed;
    }
  }
}

TEST(Searcher, LosesLittleToTasksThatMislead) {
  // The hints are upside down: half of the first picks are a cold start's all the same.
  const Space all = space();
  const Transfer misleads({upside_down(8)}, {}), helps({task(8)}, {});
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Searcher misled(plain_tuner(all), seed, 1), helped(plain_tuner(all), seed, 1);
    misled.start_from(misleads, false, misleads.first_picks(all, Transfer::kWarmStarts));
    helped.start_from(helps, false, helps.first_picks(all, Transfer::kWarmStarts));
    EXPECT_LT(std::ranges::min(search(misled, 8, 60)), 100.001) << seed;
    EXPECT_LT(std::ranges::min(search(helped, 8, 2)), 100.001) << seed;
  }
}

/// A prior that finds all rows equal.
class FlatPrior : public CostModel {
 public:
  void fit(const Dataset&) override {}
  std::vector<double> predict(const FeatureMatrix& rows) const override {
    return std::vector<double>(rows.rows(), 0.0);
  }
};

/// A prior that wants x = 12, whatever y is.
class WantsTwelve : public CostModel {
 public:
  void fit(const Dataset&) override {}
  std::vector<double> predict(const FeatureMatrix& rows) const override {
    std::vector<double> scores;
    for (std::size_t i = 0; i < rows.rows(); ++i) scores.push_back(-10 * std::abs(rows.row(i)[0] - 12));
    return scores;
  }
};

TEST(Searcher, AddsThePriorToWhatOtherTasksSayUntilItsOwnFitWhereAsked) {
  const Transfer transfer({task(2)}, {});
  const Space all = space();
  const auto first_of = [&](bool with_prior) {
    Tuner tuner = plain_tuner(all);
    tuner.prior = std::make_unique<WantsTwelve>();
    Searcher searcher(std::move(tuner), 1, 1);
    searcher.start_from(transfer, with_prior, {});
    const Point first = searcher.next()->point;
    std::vector<Measurement> results;
    for (std::int64_t i = 0; i < 16; ++i)
      results.push_back({all.point_of(Config{"k", {{"x", i}, {"y", 15 - i}}}), time_of(i, 15 - i, 8)});
    searcher.observe(results, 100);
    EXPECT_TRUE(searcher.refit_if_due());
    for (int i = 0; i < 4; ++i) {
      const Proposal pick = *searcher.next();
      FeatureMatrix row(kColumns);
      row.append(row_of(x_of(pick.point), y_of(pick.point)));
      EXPECT_EQ(pick.predicted, searcher.learner().predict(row)[0]) << "no prior any more";
    }
    return first;
  };
  const Point alone = first_of(false), both = first_of(true);
  EXPECT_LT(std::abs(x_of(alone) - 2), 3) << to_text(all.config_of(alone));
  EXPECT_EQ(x_of(both), 12) << to_text(all.config_of(both));
  EXPECT_LT(std::abs(y_of(both) - 4), 3) << "which the prior does not say: " << to_text(all.config_of(both));
}

TEST(Searcher, FollowsThePriorForTheFirstSixteenPicksOnCuda) {
  const auto picked_by_prior = [](Target target) {
    const Candidates all = {.space = space(), .of_kernels = true};
    Limits limits;
    limits.target = target;
    Tuner tuner = make_tuner("anneal", all, limits, 1);
    tuner.validity = nullptr;
    tuner.prior = std::make_unique<FlatPrior>();
    tuner.row_of = knob_rows;
    tuner.columns = kColumns;
    Searcher searcher(std::move(tuner), 1, 1);
    std::size_t picks = 0;
    for (; !searcher.refit_if_due(); ++picks) {
      const Proposal pick = *searcher.next();
      if (target == Target::kCpu && picks % 2 == 1)  // far from what was measured: a prior's best are alike
        EXPECT_FALSE(pick.predicted);
      else
        EXPECT_EQ(pick.predicted, 0);
      const Measurement result{pick.point, time_of(x_of(pick.point), y_of(pick.point), 8)};
      searcher.observe({&result, 1}, 1);
    }
    return picks;
  };
  EXPECT_EQ(picked_by_prior(Target::kCpu), 8U);
  EXPECT_EQ(picked_by_prior(Target::kCuda), 16U);
  EXPECT_EQ(make_tuner("autotvm", space(), 1).learner.first_fit, 64U);
}

}  // namespace
}  // namespace lehr::testing
