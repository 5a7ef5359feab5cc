// Permutations: see importance.h.
#include "costmodel/importance.h"

#include <algorithm>
#include <numeric>

#include "base/rng.h"
#include "costmodel/metrics.h"

namespace lehr {
namespace {

constexpr int kRepeats = 3;

/// Returns the rows, with the columns of `set` taken from row order[i] instead of row i.
FeatureMatrix with_columns_from(const FeatureMatrix& rows, const std::vector<std::size_t>& set,
                                const std::vector<std::size_t>& order) {
  FeatureMatrix result(rows.columns());
  result.reserve(rows.rows());
  std::vector<float> row(rows.columns());
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    std::ranges::copy(rows.row(i), row.begin());
    for (const std::size_t column : set) row[column] = rows.row(order[i])[column];
    result.append(row);
  }
  return result;
}

}  // namespace

std::vector<double> permutation_importance(const CrossValidation& models, const FeatureMatrix& rows,
                                           std::span<const double> truth,
                                           const std::vector<std::vector<std::size_t>>& sets) {
  const double whole = spearman(models.predict(rows), truth);
  std::vector<double> result(sets.size(), 0);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    // All sets use the same permutation, so that their figures differ because of the columns, not by chance.
    std::vector<std::size_t> order(rows.rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Rng rng = Rng(0).fork("permutation").fork(std::to_string(repeat));
    rng.shuffle(order);
    for (std::size_t s = 0; s < sets.size(); ++s) {
      if (std::ranges::none_of(sets[s], [&](std::size_t column) { return models.uses(column); })) continue;
      const double without = spearman(models.predict(with_columns_from(rows, sets[s], order)), truth);
      result[s] += (whole - without) / kRepeats;
    }
  }
  return result;
}

}  // namespace lehr
