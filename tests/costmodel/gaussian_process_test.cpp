// The process against what is known of it: interpolation, the far field, and a direct computation.
#include "costmodel/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "costmodel/metrics.h"
#include "planted.h"

namespace lehr {
namespace {

FeatureMatrix column(const std::vector<float>& values) {
  FeatureMatrix rows(2);
  for (const float value : values) rows.append(std::vector<float>{value, 7});  // the second tells nothing
  return rows;
}

// 1 us at 0, slower on both sides.
double valley(float x) {
  return 1 + x * x;
}

GaussianProcess fitted(const std::vector<float>& xs) {
  std::vector<double> times;
  for (const float x : xs) times.push_back(valley(x));
  GaussianProcess process;
  process.fit(column(xs), times);
  return process;
}

TEST(GaussianProcess, KnowsNothingBeforeRowsDiffer) {
  GaussianProcess process;
  EXPECT_FALSE(process.learnt());
  process.fit(FeatureMatrix(2), {});
  EXPECT_FALSE(process.learnt());
  process.fit(column({3, 3, 3}), std::vector<double>{1, 2, 3});
  EXPECT_FALSE(process.learnt());
  process.fit(column({3, 3, 4}), std::vector<double>{1, 2, 3});
  EXPECT_TRUE(process.learnt());
  process.fit(FeatureMatrix(2), {});
  EXPECT_FALSE(process.learnt());
}

TEST(GaussianProcess, KeepsTheOrderOfWhatItLearntAndIsLessSureFarAway) {
  const std::vector<float> xs = {-4, -3, -2, -1, 0.5, 1.5, 2.5, 3.5};
  const GaussianProcess process = fitted(xs);
  const Beliefs learnt(process, column(xs));
  for (std::size_t i = 0; i < xs.size(); ++i)
    for (std::size_t j = 0; j < xs.size(); ++j)
      EXPECT_TRUE(valley(xs[i]) >= 0.8 * valley(xs[j]) || learnt.mean(i) > learnt.mean(j)) << i << " " << j;
  const Beliefs far(process, column({0, 40}));
  EXPECT_GT(far.mean(0), learnt.mean(0));  // between the two best
  EXPECT_LT(far.deviation(0), 0.5 * far.deviation(1));
  EXPECT_NEAR(far.mean(1), 0, 1e-3);  // nothing is known there
}

TEST(GaussianProcess, MeansTheSameWhateverTheUnitsAre) {
  const std::vector<float> xs = {-4, -3, -2, -1, 0.5, 1.5, 2.5, 3.5};
  std::vector<float> scaled;
  std::vector<double> times;
  for (const float x : xs) {
    scaled.push_back(1024 * x);
    times.push_back(std::exp(valley(x)));  // another scale, the same order
  }
  GaussianProcess other;
  other.fit(column(scaled), times);
  const GaussianProcess process = fitted(xs);
  const Beliefs here(process, column({0, 2, 9})), there(other, column({0, 2048, 9216}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(here.mean(i), there.mean(i), 1e-5);
    EXPECT_NEAR(here.deviation(i), there.deviation(i), 1e-5);
  }
}

TEST(GaussianProcess, RanksWhatItHasNotSeen) {
  const test::Planted known = test::planted(300, 1), other = test::planted(300, 2);
  GaussianProcess process;
  process.fit(known.rows, known.times_us);
  const Beliefs beliefs(process, other.rows);
  std::vector<double> means;
  for (std::size_t i = 0; i < 300; ++i) means.push_back(beliefs.mean(i));
  // Four columns of 176 decide, which a process that weighs all alike can only guess at.
  EXPECT_GT(spearman(means, test::speeds(other.times_us)), 0.25);
}

TEST(GaussianProcess, BelievesAPriorAsFarAsItHolds) {
  const std::vector<float> xs = {-4, -3, -2, -1, 0.5, 1.5, 2.5, 3.5};
  std::vector<double> times, right, wrong;
  for (const float x : xs) {
    times.push_back(valley(x));
    right.push_back(1 - 0.25 * std::abs(x));
    wrong.push_back(-right.back());
  }
  const FeatureMatrix asked = column({0, 40, 80});
  const std::vector<double> there = {1, -2, -3};
  GaussianProcess alone, helped, misled;
  alone.fit(column(xs), times);
  helped.fit(column(xs), times, right);
  misled.fit(column(xs), times, wrong);
  EXPECT_FALSE(alone.has_prior());
  EXPECT_TRUE(helped.has_prior());
  const Beliefs without(alone, asked), with(helped, asked, there), against(misled, asked, there);
  // Far from what was measured it goes by the prior, if that was right about what was measured.
  EXPECT_GT(with.mean(0), with.mean(1) + 1);
  EXPECT_GT(with.mean(1), with.mean(2) + 0.3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(against.mean(i), without.mean(i)) << i;
  // The prior is no measurement: it makes nothing surer far away.
  EXPECT_GT(with.deviation(1), 5 * with.deviation(0));
}

TEST(GaussianProcess, LearnsFromTheFastestHalfAndSomeOfTheRest) {
  const std::size_t many = 2 * GaussianProcess::kMostRows;
  const test::Planted known = test::planted(many, 1);
  GaussianProcess process;
  process.fit(known.rows, known.times_us);
  EXPECT_EQ(process.rows(), GaussianProcess::kMostRows);
  std::vector<std::size_t> order(many);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return known.times_us[i]; });
  const Beliefs beliefs(process, known.rows);
  std::vector<double> deviations;
  for (const std::size_t i : order) deviations.push_back(beliefs.deviation(i));
  // A learnt row is surer than the others, by far: in so many columns no row is near another.
  const double between = (std::ranges::min(deviations) + std::ranges::max(deviations)) / 2;
  const auto learnt = [&](double deviation) { return deviation < between; };
  const auto half = deviations.begin() + GaussianProcess::kMostRows / 2;
  EXPECT_TRUE(std::all_of(deviations.begin(), half, learnt));
  EXPECT_EQ(std::count_if(half, deviations.end(), learnt), half - deviations.begin());
}

TEST(Beliefs, AfterAnAssumedMeasurementAreThoseOfAProcessThatSawIt) {
  const std::vector<float> xs = {-4, -3, -2, -1, 0.5, 1.5, 2.5, 3.5};
  const GaussianProcess process = fitted(xs);
  const FeatureMatrix rows = column({0, 0.1F, 6, 6.2F, 40});
  Beliefs beliefs(process, rows);
  const Beliefs before(process, rows);
  beliefs.assume_measured(2);
  EXPECT_LT(beliefs.deviation(2), 0.6 * before.deviation(2));
  EXPECT_LT(beliefs.deviation(3), 0.7 * before.deviation(3));  // its neighbour
  EXPECT_NEAR(beliefs.deviation(0), before.deviation(0), 0.05 * before.deviation(0));
  EXPECT_NEAR(beliefs.deviation(4), before.deviation(4), 1e-3);
  EXPECT_EQ(beliefs.mean(2), before.mean(2));
  // The order of assumptions does not matter, and a row that is known twice over is known well.
  Beliefs one(process, rows), other(process, rows);
  one.assume_measured(2);
  one.assume_measured(4);
  other.assume_measured(4);
  other.assume_measured(2);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(one.deviation(i), other.deviation(i), 1e-9);
  for (int i = 0; i < 50; ++i) one.assume_measured(4);
  EXPECT_LT(one.deviation(4), 0.2 * before.deviation(4));
  EXPECT_GE(one.deviation(4), 0);
}

}  // namespace
}  // namespace lehr
