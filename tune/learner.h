// When and on what the trees are fitted during a search, and the score that they give.
#pragma once

#include <span>
#include <vector>

#include "costmodel/model.h"
#include "costmodel/validity_model.h"
#include "tune/transfer.h"

namespace lehr {

/// When a fit is due, and what is learnt from.
struct LearnerOptions {
  /// Rows before the first fit.
  std::size_t first_fit = 8;
  /// New rows before another fit, at least.
  std::size_t least_new = 4;
  /// And at least this share of the rows at the last fit: the total time of fitting stays proportional to the
  /// last fit.
  double new_share = 0.125;
  /// Failures count as rows, of target 0, as AutoTVM has it.
  bool failures_are_slow = false;
};

/// Collects feature rows with their outcomes and refits now and then. Counts, never clocks, decide: the same
/// trials give the same models.
class Learner {
 public:
  /// Rows of `columns` values. Borrows both models. `model` nullptr: nothing is ever learnt; `validity`
  /// nullptr: failures teach nothing.
  Learner(std::size_t columns, CostModel* model, ValidityModel* validity, const LearnerOptions& options = {});

  void add(std::span<const float> row, double time_us);
  void add_failure(std::span<const float> row);
  /// From now on the score is what other tasks say, and from the first fit on their word is one more column
  /// for the own model, which learns how far it holds here. Before the first row; borrows it.
  void start_from(const Transfer& transfer) { transfer_ = &transfer; }

  /// Whether fit() has enough to learn from, and enough of it is new.
  bool due() const;
  /// Fits the models. CHECKs due().
  void fit();
  bool fitted() const { return fits_ > 0; }
  /// Whether there is anything to score by.
  bool ready() const { return fitted() || transfer_; }
  int fits() const { return fits_; }

  /// Higher is better, comparable between the calls after one fit: the model's score, or before it the other
  /// tasks', in units of its standard deviation, plus log_chances(). CHECKs ready().
  std::vector<double> predict(const FeatureMatrix& rows) const;
  /// ln P(valid) of each row; 0 before anything is known of failures.
  std::vector<double> log_chances(const FeatureMatrix& rows) const;

 private:
  std::size_t learnable() const { return options_.failures_are_slow ? valid_.size() : times_us_.size(); }
  /// `rows` with the other tasks' score as one column more, if there are other tasks.
  FeatureMatrix extended(const FeatureMatrix& rows) const;

  CostModel* model_;
  ValidityModel* validity_;
  LearnerOptions options_;
  FeatureMatrix rows_, failures_, tried_;
  std::vector<double> times_us_;
  std::vector<bool> valid_;  // of tried_
  std::size_t rows_at_fit_ = 0;
  double scale_ = 1;  // standard deviation of the model's scores over rows_
  int fits_ = 0;
  const Transfer* transfer_ = nullptr;
};

}  // namespace lehr
