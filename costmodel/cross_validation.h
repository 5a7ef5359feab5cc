// Predictions of the learnt cost model for rows that it has not seen: the rows of one task in folds, one
// model each.
#pragma once

#include <cstddef>
#include <vector>

#include "costmodel/xgboost_model.h"

namespace lehr {

class CrossValidation {
 public:
  /// Deals the rows of one task to `folds` folds of about equal size. Fits a model for each fold on the rows
  /// of the others. `times_us[i]` > 0 belongs to row i. CHECKs that there are at least two folds, and as many
  /// rows as folds. Deterministic.
  CrossValidation(const FeatureMatrix& rows, const std::vector<double>& times_us, std::size_t folds);

  /// Predicts row i by the model that was not fitted on row i. `rows` has as many rows as the constructor's:
  /// the same ones or changed ones. Higher is better. Scores are comparable over all rows: each model's are
  /// in units of their standard deviation over the constructor's rows, from their mean.
  std::vector<double> predict(const FeatureMatrix& rows) const;
  /// Returns whether a tree of some fold splits on this column.
  bool uses(std::size_t column) const { return used_[column]; }
  std::size_t folds() const { return folds_.size(); }

 private:
  struct Fold {
    XgboostModel model;
    std::vector<std::size_t> held_out;
    double mean = 0, deviation = 1;  // mean and deviation of the model's scores over all rows
  };
  std::vector<Fold> folds_;
  std::vector<bool> used_;
  std::size_t rows_;
};

}  // namespace lehr
