// The flattened forest against the library that trained it.
#include "costmodel/forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "costmodel/booster.h"

namespace lehr {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Returns rows of few distinct values, so that some lie on the thresholds; now and then one is missing.
FeatureMatrix random_rows(Rng& rng, std::size_t n, std::size_t columns, bool missing) {
  FeatureMatrix rows(columns);
  std::vector<float> row(columns);
  for (std::size_t i = 0; i < n; ++i) {
    for (float& x : row)
      x = missing && rng.below(10) == 0 ? kNaN : 0.3f * static_cast<float>(rng.below(12)) - 1.1f;
    rows.append(row);
  }
  return rows;
}

Booster boosted(const FeatureMatrix& rows, const BoosterParameters& parameters, int rounds, bool binary,
                std::vector<std::uint32_t> groups = {}) {
  std::vector<float> targets;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const float x = rows.row(i)[0], y = rows.row(i)[1], z = rows.row(i)[2];
    const float target = (std::isnan(x) ? 0.7f : x) * (std::isnan(y) ? 1 : y) + (std::isnan(z) ? 2 : z);
    targets.push_back(binary ? (target > 0.5f ? 1.0f : 0.0f) : target);
  }
  return boost(TrainingMatrix(rows, targets, groups), parameters, rounds);
}

void expect_same(const Booster& booster, const FeatureMatrix& rows, double tolerance) {
  const Forest forest(booster.to_bytes());
  const std::vector<double> expected = booster.predict(rows), found = forest.predict(rows);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], tolerance) << "row " << i;
}

TEST(Forest, PredictsWhatXgboostPredictsToTheLastBit) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Rng rng(seed);
    const bool missing = seed % 2 == 0;
    const FeatureMatrix rows = random_rows(rng, 100 + rng.below(200), 3 + rng.below(30), missing);
    const std::string depth = std::to_string(1 + rng.below(8));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", depth " + depth);
    const auto groups = std::vector<std::uint32_t>{40, static_cast<std::uint32_t>(rows.rows() - 40)};
    const Booster regression =
        boosted(rows, {{"objective", "reg:squarederror"}, {"max_depth", depth}}, 25, false);
    const Booster ranking =
        boosted(rows, {{"objective", "rank:pairwise"}, {"max_depth", depth}}, 40, false, groups);
    for (const std::size_t n : {0, 1, 7, 8, 9, 123}) {
      const FeatureMatrix asked = random_rows(rng, n, rows.columns(), missing);
      expect_same(regression, asked, 0);
      expect_same(ranking, asked, 0);
    }
  }
}

TEST(Forest, TakesInfiniteValues) {
  Rng rng(8);
  const FeatureMatrix rows = random_rows(rng, 200, 5, false);
  const Booster booster = boosted(rows, {{"objective", "reg:squarederror"}}, 20, false);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  FeatureMatrix asked(5);
  asked.append(std::vector<float>{kInfinity, kInfinity, kInfinity, kInfinity, kInfinity});
  asked.append(std::vector<float>{-kInfinity, 0, kInfinity, 0, -kInfinity});
  expect_same(booster, asked, 0);
}

TEST(Forest, GivesProbabilitiesOfALogisticObjective) {
  Rng rng(5);
  const FeatureMatrix rows = random_rows(rng, 300, 10, true);
  const Booster booster = boosted(rows, {{"objective", "binary:logistic"}, {"base_score", "0.2"}}, 20, true);
  expect_same(booster, rows, 1e-6);
}

TEST(Forest, TakesTreesThatAreOneLeaf) {
  FeatureMatrix alike(4);
  for (int i = 0; i < 30; ++i) alike.append(std::vector<float>{1, 2, 3, 4});
  expect_same(boosted(alike, {{"objective", "reg:squarederror"}, {"base_score", "3.25"}}, 3, false), alike,
              0);
}

TEST(Forest, RefusesWhatIsNoModel) {
  EXPECT_THROW(Forest("no model"), Error);
  EXPECT_THROW(Forest(""), Error);
  Rng rng(7);
  const FeatureMatrix rows = random_rows(rng, 50, 6, false);
  const std::string bytes = boosted(rows, {{"objective", "reg:squarederror"}}, 5, false).to_bytes();
  EXPECT_THROW(Forest(std::string_view(bytes).substr(0, bytes.size() / 2)), Error);
  const Forest forest(bytes);
  EXPECT_THROW(forest.predict(random_rows(rng, 2, 5, false)), Error) << "a column is missing";
}

}  // namespace
}  // namespace lehr
