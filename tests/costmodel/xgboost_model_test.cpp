// The learnt model: learns a planted ranking, stops on held-out rows, is deterministic.
#include "costmodel/xgboost_model.h"

#include <gtest/gtest.h>

#include "costmodel/autotvm_model.h"
#include "costmodel/metrics.h"
#include "tests/costmodel/planted.h"

namespace lehr {
namespace {

using test::noise;
using test::planted;
using test::Planted;
using test::speeds;

Dataset dataset_of(const Planted& rows) {
  Dataset data;
  append_group(data, rows.rows, rows.times_us);
  return data;
}

TEST(XgboostRanking, LearnsAPlantedRankingForRowsItNeverSaw) {
  const Planted held_out = planted(300, 99);
  for (const std::size_t n : {300u, 700u}) {  // exact and histogram splits
    XgboostModel model;
    model.fit(dataset_of(planted(n, 1)));
    EXPECT_GT(spearman(model.predict(held_out.rows), speeds(held_out.times_us)), 0.8) << n << " rows";
    EXPECT_TRUE(model.held_out_score());
    EXPECT_GT(model.rounds(), 10);
  }
}

TEST(XgboostRanking, ReportsAHeldOutScoreThatAgreesWithFreshRows) {
  XgboostModel model;
  model.fit(dataset_of(planted(600, 2)));
  const Planted fresh = planted(400, 98);
  const double accuracy = pairwise_accuracy(model.predict(fresh.rows), speeds(fresh.times_us));
  ASSERT_TRUE(model.held_out_score().has_value());
  EXPECT_NEAR(*model.held_out_score(), accuracy, 0.08);
}

TEST(XgboostRanking, IsNotDisturbedByGroupsOfAnotherScale) {
  // The second group's best row is the first group's worst: its targets say nothing about the first.
  const Planted first = planted(200, 3);
  Planted second = planted(200, 4);
  for (std::size_t i = 0; i < second.times_us.size(); ++i)
    second.times_us[i] = 1000 * (5 + second.times_us[i]);
  Dataset both = dataset_of(first);
  append_group(both, second.rows, second.times_us);
  XgboostModel model;
  model.fit(both);
  const Planted fresh = planted(300, 97);
  EXPECT_GT(spearman(model.predict(fresh.rows), speeds(fresh.times_us)), 0.8);
}

TEST(XgboostRanking, ComparesRowsOnlyWithinTheirGroup) {
  // Column 5 tells the groups apart, and the whole of the second group has worse targets but for its best
  // row. Across groups that column would be the strongest signal; within groups it is constant and must get
  // no use.
  Dataset data;
  for (const int group : {0, 1}) {
    Planted rows = planted(150, 10 + static_cast<std::uint64_t>(group));
    FeatureMatrix marked(rows.rows.columns());
    for (std::size_t i = 0; i < rows.rows.rows(); ++i) {
      std::vector<float> row(rows.rows.row(i).begin(), rows.rows.row(i).end());
      row[5] = static_cast<float>(100 * group);
      marked.append(row);
      if (group == 1 && i > 0) rows.times_us[i] *= 50;
    }
    append_group(data, marked, rows.times_us);
  }
  const auto shift = [&](CostModel&& model) {
    model.fit(data);
    const Planted fresh = planted(50, 55);
    FeatureMatrix a(fresh.rows.columns()), b(fresh.rows.columns());
    for (std::size_t i = 0; i < fresh.rows.rows(); ++i) {
      std::vector<float> row(fresh.rows.row(i).begin(), fresh.rows.row(i).end());
      row[5] = 0;
      a.append(row);
      row[5] = 100;
      b.append(row);
    }
    const auto low = model.predict(a), high = model.predict(b);
    double moved = 0, spread = 0;
    for (std::size_t i = 0; i < low.size(); ++i) {
      moved += std::abs(low[i] - high[i]);
      spread += std::abs(low[i] - low[0]);
    }
    return moved / spread;
  };
  EXPECT_GT(shift(AutotvmModel()), 0.5);  // the trap is real: squared errors fall into it
  EXPECT_LT(shift(XgboostModel()), 0.1);
}

TEST(XgboostStopping, EndsEarlyOnPureNoise) {
  // On the training rows the score would rise until the noise is learnt by heart; on held-out rows it never
  // does.
  XgboostModel model;
  model.fit(dataset_of(noise(300, 5)));
  EXPECT_LT(model.rounds(), 100);
  EXPECT_NEAR(*model.held_out_score(), 0.5, 0.12);
}

// How many rounds that takes is XGBoost's affair: 3.x needs fewer for the signal than it gives to noise.
TEST(XgboostStopping, EndsNoEarlierThanWhenTheSignalIsLearnt) {
  for (const std::uint64_t seed : {6, 7, 8, 9, 10}) {
    XgboostModel model;
    model.fit(dataset_of(planted(600, seed)));
    EXPECT_GT(*model.held_out_score(), 0.8) << seed;
  }
}

TEST(XgboostStopping, HoldsNothingOutBelowTwentyRows) {
  XgboostModel model;
  model.fit(dataset_of(planted(19, 7)));
  EXPECT_FALSE(model.held_out_score().has_value());
  EXPECT_LE(model.rounds(), 30);
  model.fit(dataset_of(planted(20, 7)));
  EXPECT_TRUE(model.held_out_score().has_value());
}

TEST(XgboostFit, OfNoRowsPredictsAllEqual) {
  XgboostModel model;
  const Planted rows = planted(10, 8);
  EXPECT_EQ(model.predict(rows.rows), std::vector<double>(10, 0.0));
  model.fit(dataset_of(planted(100, 8)));
  EXPECT_NE(model.predict(rows.rows), std::vector<double>(10, 0.0));
  model.fit(Dataset{});
  EXPECT_EQ(model.predict(rows.rows), std::vector<double>(10, 0.0));
  EXPECT_TRUE(model.predict(FeatureMatrix(feature_table().size())).empty());
}

TEST(XgboostFit, OfOneRowOrOfEqualTargetsDoesNotFail) {
  XgboostModel model;
  model.fit(dataset_of(planted(1, 9)));
  EXPECT_EQ(model.predict(planted(3, 9).rows).size(), 3u);
  Planted equal = planted(40, 9);
  for (double& time : equal.times_us) time = 7;
  model.fit(dataset_of(equal));
  EXPECT_EQ(model.predict(equal.rows).size(), 40u);
}

TEST(XgboostFit, IsDeterministicForItsSeed) {
  const Planted fresh = planted(100, 96);
  for (const std::size_t rows : {200u, 700u}) {  // exact and histogram splits
    XgboostModel a, b;
    a.fit(dataset_of(planted(rows, 11)));
    b.fit(dataset_of(planted(30, 12)));  // what was learnt before must leave no trace
    b.fit(dataset_of(planted(rows, 11)));
    EXPECT_EQ(a.predict(fresh.rows), b.predict(fresh.rows)) << rows << " rows";
  }
}

}  // namespace
}  // namespace lehr
