// How much the cost model's ranking depends on a column, or on several columns that belong together.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "costmodel/cross_validation.h"

namespace lehr {

/// Returns the permutation importance (Breiman, Random Forests, 2001, section 10) of each of `sets` of
/// columns: Spearman's rank correlation of the held-out predictions with `truth` (higher is better), minus
/// the same after the set's columns were dealt to other rows, all by one permutation. The mean of three
/// permutations. 0 for columns that no tree splits on. Redundant columns stand in for each other: each alone
/// counts little, as a set they count. Deterministic.
std::vector<double> permutation_importance(const CrossValidation& models, const FeatureMatrix& rows,
                                           std::span<const double> truth,
                                           const std::vector<std::vector<std::size_t>>& sets);

}  // namespace lehr
