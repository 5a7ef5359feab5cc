// Normalised groups and their split.
#include "costmodel/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"

namespace lehr {
namespace {

/// Rows that carry their own number in the first column.
FeatureMatrix numbered(std::size_t n, float first) {
  FeatureMatrix rows(feature_table().size());
  std::vector<float> row(feature_table().size());
  for (std::size_t i = 0; i < n; ++i) {
    row[0] = first + static_cast<float>(i);
    rows.append(row);
  }
  return rows;
}

TEST(DatasetGroups, TargetsAreTheBestTimeOverTheTimePerGroup) {
  Dataset data;
  append_group(data, numbered(3, 0), {20, 10, 40});
  append_group(data, numbered(2, 3), {5000, 1000});
  EXPECT_EQ(data.targets, (std::vector<float>{0.5f, 1.0f, 0.25f, 0.2f, 1.0f}));
  EXPECT_EQ(data.groups, (std::vector<int>{0, 0, 0, 1, 1}));
  EXPECT_EQ(data.rows.rows(), 5u);
}

TEST(DatasetGroups, AnEmptyGroupIsNoGroup) {
  Dataset data;
  append_group(data, numbered(0, 0), {});
  append_group(data, numbered(1, 0), {3});
  EXPECT_EQ(data.groups, (std::vector<int>{0}));
}

TEST(DatasetGroups, RefuseTimesThatAreNoTimes) {
  Dataset data;
  EXPECT_THROW(append_group(data, numbered(1, 0), {0.0}), Error);
  EXPECT_THROW(append_group(data, numbered(1, 0), {-1.0}), Error);
  EXPECT_THROW(append_group(data, numbered(1, 0), {std::nan("")}), Error);
  EXPECT_THROW(append_group(data, numbered(2, 0), {1.0}), Error);
}

TEST(DatasetSplit, TakesAShareOfEveryGroupAndLosesNothing) {
  Dataset data;
  append_group(data, numbered(50, 0), std::vector<double>(50, 2.0));
  append_group(data, numbered(5, 50), std::vector<double>(5, 2.0));
  append_group(data, numbered(4, 55), std::vector<double>(4, 2.0));
  const Split split = split_by_row(data, 0.2, 1);
  std::map<int, int> held;
  for (const int group : split.held_out.groups) ++held[group];
  EXPECT_EQ(held[0], 10);
  EXPECT_EQ(held[1], 1);
  EXPECT_EQ(held.count(2), 0u);
  std::set<float> seen;
  for (const Dataset* part : {&split.train, &split.held_out}) {
    EXPECT_EQ(part->rows.rows(), part->size());
    EXPECT_TRUE(std::is_sorted(part->groups.begin(), part->groups.end()));
    for (std::size_t i = 0; i < part->size(); ++i) {
      EXPECT_TRUE(seen.insert(part->rows.row(i)[0]).second);
      EXPECT_EQ(part->groups[i], part->rows.row(i)[0] < 50 ? 0 : part->rows.row(i)[0] < 55 ? 1 : 2);
    }
  }
  EXPECT_EQ(seen.size(), 59u);
}

TEST(DatasetSplit, IsTheSameForTheSameSeedAndAnotherForAnother) {
  Dataset data;
  append_group(data, numbered(100, 0), std::vector<double>(100, 2.0));
  const auto first_held = [&](std::uint64_t seed) {
    const Split split = split_by_row(data, 0.2, seed);
    std::vector<float> ids;
    for (std::size_t i = 0; i < split.held_out.size(); ++i) ids.push_back(split.held_out.rows.row(i)[0]);
    return ids;
  };
  EXPECT_EQ(first_held(5), first_held(5));
  EXPECT_NE(first_held(5), first_held(6));
}

TEST(DatasetSplit, HoldsBackTheLastRowsOfASmallGroupForTraining) {
  Dataset data;
  append_group(data, numbered(5, 0), std::vector<double>(5, 2.0));
  EXPECT_EQ(split_by_row(data, 0.99, 1).train.size(), 1u);
  EXPECT_EQ(split_by_row(data, 0.01, 1).held_out.size(), 1u);
}

}  // namespace
}  // namespace lehr
