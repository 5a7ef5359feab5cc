// The chance of a candidate to be valid.
#include "costmodel/validity_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/costmodel/planted.h"

namespace lehr {
namespace {

/// Returns labels that are invalid where column 20 is above 5.
std::vector<bool> labels_of(const FeatureMatrix& rows) {
  std::vector<bool> valid;
  for (std::size_t i = 0; i < rows.rows(); ++i) valid.push_back(rows.row(i)[20] <= 5);
  return valid;
}

TEST(Validity, IsOneUntilEightOfEachAreKnown) {
  const test::Planted rows = test::planted(40, 1);
  ValidityModel model;
  EXPECT_EQ(model.predict(rows.rows), std::vector<double>(40, 1.0));
  for (const std::size_t failures : {0u, 7u, 33u, 40u}) {
    std::vector<bool> valid(40, true);
    std::fill(valid.begin(), valid.begin() + static_cast<std::ptrdiff_t>(failures), false);
    model.fit(rows.rows, valid);
    EXPECT_FALSE(model.learnt()) << failures;
    EXPECT_EQ(model.predict(rows.rows), std::vector<double>(40, 1.0)) << failures;
  }
  std::vector<bool> valid(40, true);
  std::fill(valid.begin(), valid.begin() + 8, false);
  model.fit(rows.rows, valid);
  EXPECT_TRUE(model.learnt());
  model.fit(rows.rows, std::vector<bool>(40, true));
  EXPECT_FALSE(model.learnt());
}

TEST(Validity, LearnsWhichRowsFail) {
  const test::Planted train = test::planted(200, 2), fresh = test::planted(200, 3);
  ValidityModel model;
  model.fit(train.rows, labels_of(train.rows));
  const std::vector<double> chance = model.predict(fresh.rows);
  const std::vector<bool> valid = labels_of(fresh.rows);
  int right = 0;
  for (std::size_t i = 0; i < chance.size(); ++i) {
    EXPECT_GE(chance[i], 0);
    EXPECT_LE(chance[i], 1);
    right += (chance[i] > 0.5) == valid[i];
  }
  EXPECT_GT(right, 190);
}

TEST(Validity, SaysNearTheBaseRateWhereFailuresAreRandom) {
  const test::Planted rows = test::planted(300, 4);
  Rng rng(5);
  std::vector<bool> valid;
  for (int i = 0; i < 300; ++i) valid.push_back(rng.uniform() < 0.8);
  ValidityModel model;
  model.fit(rows.rows, valid);
  const std::vector<double> chance = model.predict(test::planted(200, 6).rows);
  double mean = 0;
  for (const double p : chance) mean += p / 200;
  EXPECT_NEAR(mean, 0.8, 0.12);
}

}  // namespace
}  // namespace lehr
