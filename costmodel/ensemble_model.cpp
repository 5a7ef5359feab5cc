// The ensemble: see ensemble_model.h.
#include "costmodel/ensemble_model.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/hash.h"

namespace lehr {

EnsembleModel::EnsembleModel(const XgboostOptions& options, std::size_t members, double optimism)
    : scales_(members, 1), optimism_(optimism) {
  CHECK(members > 0);
  for (std::size_t i = 0; i < members; ++i) {
    XgboostOptions own = options;
    own.seed = hash_combine(options.seed, i);
    own.refit_on_all_rows = false;
    members_.emplace_back(own);
  }
}

void EnsembleModel::fit(const Dataset& data) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i].fit(data);
    double sum = 0, squares = 0;
    const std::vector<double> scores = members_[i].predict(data.rows);
    const double n = static_cast<double>(std::max<std::size_t>(1, scores.size()));
    for (const double score : scores) sum += score / n;
    for (const double score : scores) squares += (score - sum) * (score - sum) / n;
    scales_[i] = squares > 1e-18 ? std::sqrt(squares) : 1;
  }
}

std::vector<double> EnsembleModel::predict(const FeatureMatrix& rows) const {
  std::vector<double> sum(rows.rows(), 0), squares(rows.rows(), 0);
  const auto n = static_cast<double>(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::vector<double> scores = members_[i].predict(rows);
    for (std::size_t r = 0; r < scores.size(); ++r) {
      const double score = scores[r] / scales_[i];
      sum[r] += score / n;
      squares[r] += score * score / n;
    }
  }
  for (std::size_t r = 0; r < sum.size(); ++r)
    sum[r] += optimism_ * std::sqrt(std::max(0.0, squares[r] - sum[r] * sum[r]));
  return sum;
}

}  // namespace lehr
