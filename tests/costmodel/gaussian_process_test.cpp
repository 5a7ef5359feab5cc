// Tests of the Gaussian process against known properties: interpolation, the far field, lengths, and equality
// with a Gaussian process that had all trials from the start.
#include "costmodel/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace lehr {
namespace {

// Returns rows whose first column decides, while the second does nothing.
FeatureMatrix rows_of(const std::vector<float>& first, Rng& rng) {
  FeatureMatrix rows(2);
  for (const float value : first) rows.append(std::vector<float>{value, static_cast<float>(rng.uniform())});
  return rows;
}

// Returns 0.9 at 0.4, less on both sides.
double hill(float x) {
  return 0.9 - 12 * (x - 0.4) * (x - 0.4);
}
std::vector<double> hills(const std::vector<float>& xs) {
  std::vector<double> values;
  for (const float x : xs) values.push_back(hill(x));
  return values;
}
const std::vector<float> kKnown = {0, 0.1F, 0.2F, 0.3F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F, 1};

GaussianProcess fitted() {
  Rng rng(1);
  GaussianProcess gaussian(2);
  gaussian.fit(rows_of(kKnown, rng), hills(kKnown), true);
  return gaussian;
}

TEST(GaussianProcess, KnowsNothingBeforeItsFirstRow) {
  GaussianProcess gaussian(2);
  gaussian.fit(FeatureMatrix(2), {}, true);
  EXPECT_EQ(gaussian.rows(), 0U);
  Beliefs beliefs(gaussian);
  beliefs.add(std::vector<float>{0.3F, 0.5F});
  EXPECT_EQ(beliefs.mean(0), 0);
  EXPECT_NEAR(beliefs.deviation(0), 1, 1e-9);
}

TEST(GaussianProcess, ExpectsWhatItLearntAndIsLessSureFarAway) {
  const GaussianProcess gaussian = fitted();
  Beliefs beliefs(gaussian);
  for (const float x : {0.2F, 0.4F, 0.65F}) {
    const std::size_t at = beliefs.add(std::vector<float>{x, 0.5F});
    EXPECT_NEAR(beliefs.mean(at), hill(x), 0.15) << x;
    EXPECT_LT(beliefs.deviation(at), 0.3) << x;
  }
  const std::size_t far = beliefs.add(std::vector<float>{40, 0.5F});
  EXPECT_NEAR(beliefs.mean(far), 0, 1e-3);
  EXPECT_GT(beliefs.deviation(far), 5 * beliefs.deviation(1));
}

TEST(GaussianProcess, FindsOutWhichColumnDoesNothing) {
  // A point that differs in the second column alone is known; a point half as far in the first is not.
  const GaussianProcess gaussian = fitted();
  Beliefs beliefs(gaussian);
  Rng rng(1);
  const FeatureMatrix rows = rows_of(kKnown, rng);
  const float other = rows.row(9)[1] < 0.5F ? 1.0F : 0.0F;
  const std::size_t idle = beliefs.add(std::vector<float>{1, other});
  const std::size_t moved = beliefs.add(std::vector<float>{1.4F, rows.row(9)[1]});
  EXPECT_LT(beliefs.deviation(idle), 0.3 * beliefs.deviation(moved));
}

TEST(GaussianProcess, LearnsFromTheBestHalfAndSomeOfTheRest) {
  const std::size_t many = 2 * GaussianProcess::kMostRows;
  FeatureMatrix rows(1);
  std::vector<double> values;
  for (std::size_t i = 0; i < many; ++i) {
    rows.append(std::vector<float>{static_cast<float>(i) / static_cast<float>(many)});
    values.push_back(-static_cast<double>(i) / static_cast<double>(many));
  }
  GaussianProcess gaussian(1);
  gaussian.fit(rows, values, false);
  EXPECT_EQ(gaussian.rows(), GaussianProcess::kMostRows);
}

TEST(Beliefs, AreThoseOfAProcessThatWasToldTheSameFromTheStart) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    FeatureMatrix rows(3);
    std::vector<double> values;
    const auto draw = [&] {
      std::vector<float> row;
      for (int i = 0; i < 3; ++i) row.push_back(static_cast<float>(rng.uniform()));
      return row;
    };
    for (int i = 0; i < 12; ++i) {
      rows.append(draw());
      values.push_back(rng.uniform() - 0.5);
    }
    GaussianProcess first(3);
    first.fit(rows, values, true);
    const std::vector<float> asked = draw(), late = draw(), one = draw(), two = draw();
    Beliefs beliefs(first);
    const std::size_t at = beliefs.add(asked), number_one = beliefs.add(one), number_two = beliefs.add(two);
    const double before = beliefs.deviation(at);
    beliefs.assume_measured(number_one);
    beliefs.assume_measured(number_two);
    EXPECT_LE(beliefs.deviation(at), before);
    const double unchanged = beliefs.mean(at);
    beliefs.tell(0.4);
    beliefs.tell(-0.3);
    EXPECT_NE(beliefs.mean(at), unchanged);
    const std::size_t at_late = beliefs.add(late);  // added after the results

    rows.append(one);
    rows.append(two);
    values.push_back(0.4);
    values.push_back(-0.3);
    GaussianProcess second = first;
    second.fit(rows, values, false);
    Beliefs told(second);
    const std::size_t same = told.add(asked), same_late = told.add(late);
    EXPECT_NEAR(beliefs.mean(at), told.mean(same), 1e-4);
    EXPECT_NEAR(beliefs.mean(at_late), told.mean(same_late), 1e-4);
    // The scale of all deviations is each fit's own.
    EXPECT_NEAR(beliefs.deviation(at) / beliefs.deviation(at_late),
                told.deviation(same) / told.deviation(same_late), 1e-3);
  }
}

}  // namespace
}  // namespace lehr
