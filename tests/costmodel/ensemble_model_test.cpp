// Several models together.
#include "costmodel/ensemble_model.h"

#include <gtest/gtest.h>

#include "costmodel/metrics.h"
#include "tests/costmodel/planted.h"

namespace lehr {
namespace {

using test::planted;
using test::Planted;
using test::speeds;

TEST(EnsembleModel, RanksUnseenRowsAtLeastAsWellAsItsMembersDo) {
  const Planted rows = planted(150, 1), unseen = planted(400, 2);
  Dataset data;
  append_group(data, rows.rows, rows.times_us);
  const std::vector<double> truth = speeds(unseen.times_us);
  double alone = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    XgboostOptions options;
    options.seed = seed;
    XgboostModel model(options);
    model.fit(data);
    alone += spearman(model.predict(unseen.rows), truth) / 5;
  }
  EnsembleModel together({}, 5, 0);
  together.fit(data);
  EXPECT_GT(spearman(together.predict(unseen.rows), truth), alone);
}

TEST(EnsembleModel, LiftsWhatItsMembersDisagreeOn) {
  const Planted rows = planted(100, 1);
  Dataset data;
  append_group(data, rows.rows, rows.times_us);
  EnsembleModel neutral({}, 4, 0), hopeful({}, 4, 1);
  neutral.fit(data);
  hopeful.fit(data);
  const Planted unseen = planted(50, 2);
  const std::vector<double> low = neutral.predict(unseen.rows), high = hopeful.predict(unseen.rows);
  for (std::size_t i = 0; i < low.size(); ++i) EXPECT_GT(high[i], low[i]);
}

TEST(EnsembleModel, KnowsNothingBeforeAFit) {
  const Planted rows = planted(5, 1);
  EXPECT_EQ(EnsembleModel({}, 3, 1).predict(rows.rows), std::vector<double>(5, 0.0));
}

}  // namespace
}  // namespace lehr
