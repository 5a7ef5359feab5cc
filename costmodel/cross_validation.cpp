// Folds: see cross_validation.h.
#include "costmodel/cross_validation.h"

#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"

namespace lehr {

CrossValidation::CrossValidation(const FeatureMatrix& rows, const std::vector<double>& times_us,
                                 std::size_t folds)
    : used_(rows.columns(), false), rows_(rows.rows()) {
  CHECK(folds >= 2 && rows_ >= folds, "{} rows in {} folds", rows_, folds);
  std::vector<std::size_t> order(rows_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng = Rng(0).fork("folds");
  rng.shuffle(order);
  for (std::size_t f = 0; f < folds; ++f) {
    Fold fold{XgboostModel(), {}};
    FeatureMatrix seen(rows.columns());
    std::vector<double> seen_us;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (i % folds == f) {
        fold.held_out.push_back(order[i]);
      } else {
        seen.append(rows.row(order[i]));
        seen_us.push_back(times_us[order[i]]);
      }
    }
    Dataset data(rows.columns());
    append_group(data, seen, seen_us);
    fold.model.fit(data);
    const std::vector<double> scores = fold.model.predict(rows);
    double square = 0;
    for (const double score : scores) fold.mean += score / static_cast<double>(rows_);
    for (const double score : scores)
      square += (score - fold.mean) * (score - fold.mean) / static_cast<double>(rows_);
    if (square > 1e-18) fold.deviation = std::sqrt(square);
    const std::vector<double> gains = fold.model.gain_shares();
    for (std::size_t c = 0; c < gains.size(); ++c) used_[c] = used_[c] || gains[c] > 0;
    folds_.push_back(std::move(fold));
  }
}

std::vector<double> CrossValidation::predict(const FeatureMatrix& rows) const {
  CHECK(rows.rows() == rows_, "{} rows, the folds were made of {}", rows.rows(), rows_);
  std::vector<double> result(rows_);
  for (const Fold& fold : folds_) {
    FeatureMatrix held_out(rows.columns());
    held_out.reserve(fold.held_out.size());
    for (const std::size_t i : fold.held_out) held_out.append(rows.row(i));
    const std::vector<double> scores = fold.model.predict(held_out);
    for (std::size_t i = 0; i < scores.size(); ++i)
      result[fold.held_out[i]] = (scores[i] - fold.mean) / fold.deviation;
  }
  return result;
}

}  // namespace lehr
