// The data that a cost model learns from: feature rows with normalised targets, in groups (one per task).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "costmodel/features.h"

namespace lehr {

/// Targets are the best time of the group / time of the row, in (0, 1]. Failures are not rows here: they
/// train a model of their own (ValidityModel). Only the preset that reproduces AutoTVM adds them.
struct Dataset {
  /// Each row has `columns` columns; by default those of featurize().
  explicit Dataset(std::size_t columns = feature_table().size()) : rows(columns) {}

  FeatureMatrix rows;
  std::vector<float> targets;
  std::vector<int> groups;  ///< group of each row; equal ids are contiguous

  std::size_t size() const { return targets.size(); }
};

/// Appends one group, whose row i took `times_us[i]` > 0. Normalises by the fastest time.
void append_group(Dataset& data, const FeatureMatrix& rows, const std::vector<double>& times_us);

/// Appends failed rows with target 0, to the last group or as a group of their own. AutoTVM trains its model
/// on failures in this way.
void append_failures(Dataset& data, const FeatureMatrix& rows);

struct Split {
  Dataset train;
  Dataset held_out;
};
/// Splits the rows deterministically by seed. Holds out the fraction `share` of each group's rows: at least
/// one row if the group has 5 or more, and no row of smaller groups.
Split split_by_row(const Dataset& data, double share, std::uint64_t seed);

}  // namespace lehr
