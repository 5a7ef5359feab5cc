// AutoTVM's model learns, forgets, and counts failures as rows.
#include "costmodel/autotvm_model.h"

#include <gtest/gtest.h>

#include "costmodel/metrics.h"
#include "tests/costmodel/planted.h"

namespace lehr {
namespace {

using test::planted;
using test::Planted;
using test::speeds;

TEST(AutotvmModel, LearnsAPlantedTarget) {
  const Planted rows = planted(400, 1), unseen = planted(300, 2);
  Dataset data;
  append_group(data, rows.rows, rows.times_us);
  AutotvmModel model;
  model.fit(data);
  EXPECT_GT(spearman(model.predict(unseen.rows), speeds(unseen.times_us)), 0.6);
  AutotvmModel again;
  again.fit(data);
  EXPECT_EQ(model.predict(unseen.rows), again.predict(unseen.rows));
  model.fit(Dataset{});
  EXPECT_EQ(model.predict(unseen.rows), std::vector<double>(300, 0.0));
}

TEST(AutotvmModel, RanksWhatFailedLast) {
  const Planted rows = planted(60, 3);
  Dataset data;
  append_group(data, rows.rows, rows.times_us);
  FeatureMatrix failed(data.rows.columns());
  std::vector<float> row(data.rows.columns(), 100.0f);  // a region of its own
  for (int i = 0; i < 20; ++i) {
    row[0] = static_cast<float>(i);
    failed.append(row);
  }
  append_failures(data, failed);
  ASSERT_EQ(data.size(), 80u);
  EXPECT_EQ(data.targets.back(), 0);
  EXPECT_EQ(data.groups.back(), data.groups.front());
  AutotvmModel model;
  model.fit(data);
  const std::vector<double> bad = model.predict(failed), good = model.predict(rows.rows);
  EXPECT_LT(*std::ranges::max_element(bad), *std::ranges::min_element(good) + 0.1);
}

}  // namespace
}  // namespace lehr
