// Tests of the figures of searches whose answer can be worked out by hand.
#include <gtest/gtest.h>

#include <limits>

#include "replay/figures.h"
#include "replay/report.h"
#include "tests/replay/support.h"

namespace lehr::testing {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

Table hundred() {
  std::vector<double> times;
  for (int i = 0; i < 1000; ++i) times.push_back(100 + i);
  return table_of(times);
}

TEST(Figures, TellFractionsAndTrialsOverSeeds) {
  const RandomBaseline random(hundred());
  std::vector<std::vector<double>> searches(3, std::vector<double>(64, 200));
  for (std::size_t i = 9; i < 64; ++i) searches[0][i] = 100;   // the optimum at trial 10
  for (std::size_t i = 19; i < 64; ++i) searches[1][i] = 104;  // 0.9615 at trial 20
  searches[2][0] = kNone;
  const Figures figures = figures_of(searches, random);
  EXPECT_DOUBLE_EQ(figures.fraction[0]->median, 0.5);          // 1, 0.5, 0.5
  EXPECT_DOUBLE_EQ(figures.fraction[1]->median, 100.0 / 104);  // 1, 0.96, 0.5
  EXPECT_DOUBLE_EQ(figures.fraction[1]->p10, 0.5 + 0.2 * (100.0 / 104 - 0.5));
  EXPECT_FALSE(figures.fraction[3]);  // no search was so long
  EXPECT_EQ(figures.trials_to[0], 20);
  EXPECT_EQ(figures.trials_to[1], 20);
  EXPECT_FALSE(figures.trials_to[2]);  // two of three searches never came so far
}

TEST(Figures, ScoreIsOneForTheOptimumAndZeroForWhatRandomSearchExpects) {
  const RandomBaseline random(hundred());
  std::vector<double> expected;
  for (std::size_t n = 1; n <= 256; ++n) expected.push_back(random.expected_us(n));
  EXPECT_NEAR(figures_of({expected}, random).score, 0, 1e-9);
  EXPECT_NEAR(figures_of({std::vector<double>(256, 100)}, random).score, 1, 1e-9);
  EXPECT_LT(figures_of({std::vector<double>(256, 1000)}, random).score, -1);
  EXPECT_LT(figures_of({std::vector<double>(256, kNone)}, random).score, -1);
}

TEST(Figures, OfRandomSearchAreExact) {
  const Figures figures = figures_of_random(RandomBaseline(hundred()), 128);
  EXPECT_FALSE(figures.fraction[4]);
  // P(not one of the 42 fastest of 1000 in 16 draws) = 0.5007, of the 43 fastest 0.4923.
  EXPECT_DOUBLE_EQ(figures.fraction[0]->median, 100.0 / 142);
  EXPECT_LT(figures.fraction[0]->p10, figures.fraction[0]->median);
  EXPECT_EQ(figures.trials_to[0], 56);  // 12 rows are within 90 %: P(not one in 55) = 0.5052, in 56 0.4988
}

TEST(Figures, OverTablesLeaveOutWhatATableHasNot) {
  Figures a, b;
  a.fraction[0] = Spread{0.8, 0.6};
  b.fraction[0] = Spread{0.6, 0.4};
  a.fraction[1] = Spread{1, 1};
  a.trials_to[0] = 4;
  b.trials_to[0] = 16;
  a.score = 1;
  const Figures both = over_tables({&a, &b});
  EXPECT_DOUBLE_EQ(both.fraction[0]->median, 0.7);
  EXPECT_FALSE(both.fraction[1]);
  EXPECT_DOUBLE_EQ(*both.trials_to[0], 8);
  EXPECT_DOUBLE_EQ(both.score, 0.5);
}

TEST(Percentile, InterpolatesAndBearsInfinity) {
  EXPECT_DOUBLE_EQ(percentile({3, 1, 2}, 0.5), 2);
  EXPECT_DOUBLE_EQ(percentile({1, 2}, 0.25), 1.25);
  EXPECT_DOUBLE_EQ(percentile({1, kNone, 5}, 0.5), 5);
  EXPECT_EQ(percentile({1, kNone}, 0.5), kNone);
  EXPECT_EQ(percentile({kNone, kNone}, 0.5), kNone);
}

}  // namespace
}  // namespace lehr::testing
