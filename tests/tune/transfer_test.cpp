// What other tasks tell: ranking, first picks, expected loss, and how their word fades.
#include "tune/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "costmodel/metrics.h"
#include "search/anneal.h"
#include "tune/held_out_rank.h"
#include "tune/learner.h"
#include "tune/searcher.h"

namespace lehr::testing {
namespace {

constexpr std::size_t kColumns = 3;

// Configs k(x, y) of 16 x 16; the fastest is at (x, 4).
double time_of(std::int64_t x, std::int64_t y, std::int64_t best_x) {
  return 100 * std::exp(0.1 * static_cast<double>(std::abs(x - best_x)) +
                        0.2 * static_cast<double>(std::abs(y - 4)));
}
std::vector<float> row_of(std::int64_t x, std::int64_t y) {
  return {static_cast<float>(x), static_cast<float>(y), 1};
}
// In space(), whose knobs' values are their positions.
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
  // 10 %, 18 % slower than the best of the one, far from the other's.
  const Space some({listed_family("k", {"x", "y"}, {{3, 4}, {2, 5}, {7, 9}})});
  const std::vector<Point> picks = transfer.first_picks(some, 8);
  ASSERT_EQ(picks.size(), 1U);
  EXPECT_EQ(to_text(some.config_of(picks[0])), "k(x=3, y=4)");
}

TEST(Transfer, SaysWhatItIsLearntFrom) {
  EXPECT_EQ(describe(Transfer({task(7), task(8), task(9)}, {})),
            "768 trials of 3 other tasks serve as hints (nearest: best at 7)");
}

TEST(Learner, IsCuriousOnlyWhenOtherTasksAreNotAskedAnyMore) {
  const Transfer transfer({task(2)}, {});
  XgboostModel model;
  LearnerOptions options;
  options.exploration = 100;
  options.transfer_judged = options.transfer_rows + 1;  // never dropped
  options.transfer_patience = options.transfer_rows;
  Learner learner(kColumns, &model, nullptr, options);
  learner.start_from(transfer);
  FeatureMatrix rows(kColumns);
  rows.append(row_of(2, 4));
  rows.append(row_of(15, 15));
  const std::vector<double> equal(2, 0.0);
  Rng rng(5);
  for (std::size_t i = 1; i <= options.transfer_rows; ++i) {
    const auto x = static_cast<std::int64_t>(rng.below(6)), y = static_cast<std::int64_t>(rng.below(6));
    learner.add(row_of(x, y), time_of(x, y, 2));
    learner.refit_if_due();
    if (!learner.chooses()) continue;
    EXPECT_EQ(learner.choose(rows, equal, 1)[0], i < options.transfer_rows ? 0U : 1U) << i << " timings";
  }
  EXPECT_TRUE(learner.chooses());
}

TEST(Learner, ChoosesByOtherTasksWhereItHasMeasuredNothing) {
  const Transfer transfer({task(2)}, {});
  // Only x varied in what was measured, and y is wrong in the first: without hints the two look the same.
  FeatureMatrix rows(kColumns);
  rows.append(row_of(8, 14));
  rows.append(row_of(8, 4));
  for (const bool asked : {true, false}) {
    XgboostModel model;
    LearnerOptions options;
    options.hints_as_prior = asked;
    options.transfer_patience = options.transfer_rows;
    Learner learner(kColumns, &model, nullptr, options);
    learner.start_from(transfer);
    for (std::int64_t i = 0; i < 12; ++i) {
      learner.add(row_of(i, 4), time_of(i, 4, 2));
      learner.refit_if_due();
    }
    ASSERT_TRUE(learner.chooses() && learner.transfer_weight() > 0);
    const std::vector<double> equal(2, 0.0);
    EXPECT_EQ(learner.choose(rows, equal, 1)[0], asked ? 1U : 0U);
  }
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
  std::vector<double> scores = learner.predict(ends);
  EXPECT_GT(scores[0], scores[1]);
  EXPECT_EQ(learner.transfer_weight(), 1);
  Rng rng(3);
  double before = 1;
  for (int i = 0; i < 120; ++i) {
    const auto x = static_cast<std::int64_t>(rng.below(16)), y = static_cast<std::int64_t>(rng.below(16));
    learner.add(row_of(x, y), time_of(x, y, 13));
    learner.refit_if_due();
    EXPECT_LE(learner.transfer_weight(), before);
    before = learner.transfer_weight();
    EXPECT_EQ(learner.chooses(), i >= 7);  // from LearnerOptions::first_fit rows on
  }
  EXPECT_TRUE(learner.chooses());
  EXPECT_LT(learner.transfer_weight(), 0.1);
  scores = learner.predict(ends);
  EXPECT_LT(scores[0], scores[1]);
}

TEST(Learner, AsksOtherTasksNoMoreWhenTheyBringNothingNew) {
  const Transfer transfer({task(2)}, {});
  XgboostModel model;
  LearnerOptions options;
  options.transfer_judged = options.transfer_rows + 1;  // never dropped
  Learner learner(kColumns, &model, nullptr, options);
  learner.start_from(transfer);
  const auto timings_until_silence = [&](std::initializer_list<double> times_us) {
    for (const double us : times_us) learner.add(row_of(2, 4), us);
    return learner.transfer_weight() == 0;
  };
  // The first eight are for the first fit, however slow; then each gain gives four more.
  EXPECT_FALSE(timings_until_silence({100, 110, 110, 110, 110, 110, 110, 110}));
  EXPECT_FALSE(timings_until_silence({110, 110, 98}));
  EXPECT_FALSE(timings_until_silence({98, 98, 98}));
  EXPECT_FALSE(timings_until_silence({90}));
  EXPECT_FALSE(timings_until_silence({89.5, 89.5, 89.5})) << "less than 1 % is no gain";
  EXPECT_TRUE(timings_until_silence({89.5}));
  EXPECT_FALSE(learner.transfer_dropped());
}

/// `count` random timings of the task whose best is at `best_x`; returns the first number of timings after
/// which the other tasks were dropped, 0 for never.
int dropped_after(Learner& learner, std::int64_t best_x, int count) {
  Rng rng(5);
  for (int i = 1; i <= count; ++i) {
    const auto x = static_cast<std::int64_t>(rng.below(16)), y = static_cast<std::int64_t>(rng.below(16));
    learner.add(row_of(x, y), time_of(x, y, best_x));
    learner.refit_if_due();
    if (learner.transfer_dropped()) return i;
  }
  return 0;
}

PastTask upside_down(std::int64_t best_x) {
  PastTask past = task(best_x);
  for (double& time : past.times_us) time = 1e4 / time;
  return past;
}

TEST(Learner, DropsOtherTasksThatRankThisOneWorseThanItsOwnModel) {
  const Transfer misleads({upside_down(8)}, {}), helps({task(8)}, {});
  XgboostModel model;
  LearnerOptions options;
  options.transfer_patience = options.transfer_rows;
  Learner misled(kColumns, &model, nullptr), helped(kColumns, &model, nullptr, options);
  misled.start_from(misleads);
  EXPECT_EQ(dropped_after(misled, 8, 31), 8);
  EXPECT_EQ(misled.transfer_weight(), 0);
  FeatureMatrix ends(kColumns);
  ends.append(row_of(8, 4));
  ends.append(row_of(0, 15));
  const std::vector<double> scores = misled.predict(ends);
  EXPECT_GT(scores[0], scores[1]) << "the own model alone speaks";
  helped.start_from(helps);
  EXPECT_EQ(dropped_after(helped, 8, 31), 0);
  EXPECT_GT(helped.transfer_weight(), 0);
}

TEST(HeldOutRank, IsHighForARuleLowForChanceAndNeverSeesTheRow) {
  FeatureMatrix rows(kColumns);
  std::vector<double> times_us;
  Rng rng(9);
  for (int i = 0; i < 64; ++i) {
    const auto x = static_cast<std::int64_t>(rng.below(16)), y = static_cast<std::int64_t>(rng.below(16));
    rows.append(row_of(x, y));
    times_us.push_back(time_of(x, y, 8));
  }
  XgboostModel model;
  EXPECT_GT(held_out_rank(model, rows, times_us), 0.6);
  rng.shuffle(times_us);
  EXPECT_LT(std::abs(held_out_rank(model, rows, times_us)), 0.3);
  EXPECT_EQ(standard_deviation({1, 3}), 1);
}

/// On features of the knobs, without a prior.
Tuner plain_tuner(const Space& space) {
  Tuner tuner;
  tuner.strategy = std::make_unique<AnnealStrategy>(space);
  tuner.model = std::make_unique<XgboostModel>();
  tuner.row_of = knob_rows;
  tuner.columns = kColumns;
  return tuner;
}

TEST(Searcher, MakesUpForTheBeginningThatMisleadingTasksTookThePlaceOf) {
  // Proposals without a prediction are those that no model picked.
  const auto unpredicted = [](const Transfer& transfer) {
    const Space all = space();
    Searcher searcher(plain_tuner(all), 1, 1);
    searcher.start_from(transfer, false);
    std::vector<int> counts;
    for (int round = 0; round < 4; ++round) {
      searcher.refit_if_due();
      int count = 0;
      double best = 1e9;
      std::vector<Measurement> results;
      for (const Proposal& each : searcher.propose(10)) {
        if (!each.predicted) ++count;
        const double us = time_of(x_of(each.point), y_of(each.point), 8);
        best = std::min(best, us);
        results.push_back({each.point, us});
      }
      searcher.observe(results, best);
      counts.push_back(count);
    }
    return counts;
  };
  EXPECT_THAT(unpredicted(Transfer({task(8)}, {})), ::testing::Each(0));
  EXPECT_THAT(unpredicted(Transfer({upside_down(8)}, {})), ::testing::ElementsAre(0, 8, 0, 0));
}

/// Finds all rows equal.
class FlatPrior : public CostModel {
 public:
  void fit(const Dataset&) override {}
  std::vector<double> predict(const FeatureMatrix& rows) const override {
    return std::vector<double>(rows.rows(), 0.0);
  }
};

/// Wants x = 12, whatever y is.
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
    searcher.start_from(transfer, with_prior);
    const Point first = searcher.propose(16).at(0).point;
    std::vector<Measurement> results;
    for (std::int64_t i = 0; i < 16; ++i)
      results.push_back({all.point_of(Config{"k", {{"x", i}, {"y", 15 - i}}}), time_of(i, 15 - i, 8)});
    searcher.observe(results, 100);
    EXPECT_TRUE(searcher.refit_if_due());
    for (const Proposal& each : searcher.propose(4)) {
      if (!each.predicted) continue;
      FeatureMatrix row(kColumns);
      row.append(row_of(x_of(each.point), y_of(each.point)));
      EXPECT_EQ(*each.predicted, searcher.learner().predict(row)[0]) << "no prior any more";
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
    const Candidates all = {.space = space(), .defaults = {}, .lower = {}, .version_of = {}};
    Limits limits;
    limits.target = target;
    Tuner tuner = make_tuner("anneal", all, limits, 1);
    tuner.validity = nullptr;
    tuner.prior = std::make_unique<FlatPrior>();
    tuner.row_of = knob_rows;
    tuner.columns = kColumns;
    Searcher searcher(std::move(tuner), 1, 1);
    std::size_t picks = 0;
    while (!searcher.refit_if_due()) {
      std::vector<Measurement> results;
      for (const Proposal& each : searcher.propose(searcher.next_batch())) {
        EXPECT_EQ(each.predicted, 0);
        results.push_back({each.point, time_of(x_of(each.point), y_of(each.point), 8)});
      }
      picks += results.size();
      searcher.observe(results, 1);
    }
    return picks;
  };
  EXPECT_EQ(picked_by_prior(Target::kCpu), 10U);
  EXPECT_GE(picked_by_prior(Target::kCuda), 16U);
  EXPECT_EQ(tuner_options("autotvm").learner.first_fit, 64U);
}

}  // namespace
}  // namespace lehr::testing
