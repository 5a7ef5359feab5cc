// Measures how much the cost model's ranking depends on a column, or on a set of columns.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/cross_validation.h"

namespace lehr {

/// Returns the permutation importance (Breiman, Random Forests, 2001, section 10) of each of `sets`, which
/// are sets of columns. It is Spearman's rank correlation of the held-out predictions with `truth` (higher is
/// better), minus that correlation after the set's columns have been permuted among the rows, all by the same
/// permutation. Mean of three permutations. 0 if no tree splits on the columns. Redundant columns can replace
/// each other: each alone has little importance, but the set has. Deterministic.
std::vector<double> permutation_importance(const CrossValidation& models, const FeatureMatrix& rows,
                                           std::span<const double> truth,
                                           const std::vector<std::vector<std::size_t>>& sets);

}  // namespace lehr
