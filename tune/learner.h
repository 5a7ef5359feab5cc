// The boosted trees during a search: when they are fitted, on which rows, and the score that they give.
#pragma once

#include <span>
#include <vector>

#include "costmodel/model.h"
#include "costmodel/validity_model.h"
#include "tune/transfer.h"

namespace lehr {

/// When a fit is due, and which rows it learns from.
struct LearnerOptions {
  /// Rows before the first fit.
  std::size_t first_fit = 8;
  /// Minimum number of new rows before another fit.
  std::size_t least_new = 4;
  /// Minimum number of new rows before another fit, as a fraction of the rows at the last fit. It keeps the
  /// total time of fitting proportional to the time of the last fit.
  double new_share = 0.125;
  /// Whether failures count as rows with target 0, as in AutoTVM.
  bool failures_are_slow = false;
};

/// Collects feature rows with their outcomes and fits the models again from time to time. Only counts decide
/// when, never clocks: the same trials give the same models.
class Learner {
 public:
  /// Rows have `columns` values. Borrows both models. If `model` is nullptr, nothing is learnt. If `validity`
  /// is nullptr, failures are ignored.
  Learner(std::size_t columns, CostModel* model, ValidityModel* validity, const LearnerOptions& options = {});

  void add(std::span<const float> row, double time_us);
  void add_failure(std::span<const float> row);
  /// Starts from the rows of other tasks. Until the first fit, predict() returns their model's score. After
  /// it, that score is one more column of each row, so that the own model learns how far it holds for this
  /// task. Must be called before the first row; borrows `transfer`.
  void start_from(const Transfer& transfer) { transfer_ = &transfer; }

  /// Whether there are enough rows, and enough new rows, for fit().
  bool due() const;
  /// Fits the models. CHECKs due().
  void fit();
  bool fitted() const { return fits_ > 0; }
  /// Whether there is a model to score with.
  bool ready() const { return fitted() || transfer_; }
  int fits() const { return fits_; }

  /// Returns a score per row. Higher is better; scores after the same fit are comparable. The score is the
  /// model's score in units of its standard deviation, plus log_chances(). Before the first fit the other
  /// tasks' score takes the place of the model's. CHECKs ready().
  std::vector<double> predict(const FeatureMatrix& rows) const;
  /// Returns ln P(valid) of each row; 0 before any failure is known.
  std::vector<double> log_chances(const FeatureMatrix& rows) const;

 private:
  std::size_t learnable() const { return options_.failures_are_slow ? valid_.size() : times_us_.size(); }
  /// Returns `rows` with the other tasks' score as one more column, if there are other tasks.
  FeatureMatrix extended(const FeatureMatrix& rows) const;

  CostModel* model_;
  ValidityModel* validity_;
  LearnerOptions options_;
  FeatureMatrix rows_, failures_, tried_;
  std::vector<double> times_us_;
  std::vector<bool> valid_;  // for each row of tried_
  std::size_t rows_at_fit_ = 0;
  double scale_ = 1;  // standard deviation of the model's scores over rows_
  int fits_ = 0;
  const Transfer* transfer_ = nullptr;
};

}  // namespace lehr
