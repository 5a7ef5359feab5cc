// Predictions of the learnt cost model for rows that it has not seen: the rows of one task are divided into
// folds, and each fold has its own model.
#pragma once

#include <cstddef>
#include <vector>

#include "costmodel/xgboost_model.h"

namespace lehr {

class CrossValidation {
 public:
  /// Divides the rows of one task into `folds` folds of about equal size, and fits a model for each fold to
  /// the rows of the other folds. `times_us[i]` > 0 is the time of row i. CHECKs that there are at least two
  /// folds, and as many rows as folds. Deterministic.
  CrossValidation(const FeatureMatrix& rows, const std::vector<double>& times_us, std::size_t folds);

  /// Predicts each row i by the model of its fold, which was not fitted to row i. `rows` has as many rows as
  /// the constructor's matrix: the same rows, or changed ones. Higher is better. Scores can be compared
  /// across all rows, because each model's scores are normalised by their mean and standard deviation over
  /// the constructor's rows.
  std::vector<double> predict(const FeatureMatrix& rows) const;
  /// Returns whether a tree of any fold splits on this column.
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
