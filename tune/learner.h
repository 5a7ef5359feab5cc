// When and on what the models are fitted during a session, and the score that they give together.
#pragma once

#include <span>
#include <vector>

#include "costmodel/model.h"
#include "costmodel/validity_model.h"

namespace lehr {

/// When a fit is due, and what is learnt from.
struct LearnerOptions {
  std::size_t first_fit = 12;  ///< rows before the first fit
  std::size_t least_new = 12;  ///< new rows before another fit, at least
  double new_share = 0.125;    ///< and at least this share of the rows at the last fit: the total time of
                             ///< fitting stays proportional to the last fit
  bool failures_are_slow = false;  ///< failures count as rows, of target 0, as AutoTVM has it
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
  /// Rows of another device or template version. They are learnt from, as a group of their own, until the
  /// session has kTrustOwn rows: similar in shape, but not this device's truth.
  void add_evidence(std::span<const float> row, double time_us);

  /// Fits when enough rows are new. Returns whether it did.
  bool refit_if_due();
  bool fitted() const { return fits_ > 0; }
  int fits() const { return fits_; }

  /// Higher is better, comparable between the calls after one fit: the model's score in units of its standard
  /// deviation over the measured rows, plus ln P(valid). CHECKs fitted().
  std::vector<double> predict(const FeatureMatrix& rows) const;

  static constexpr std::size_t kTrustOwn = 64;

 private:
  std::size_t learnable() const { return options_.failures_are_slow ? valid_.size() : times_us_.size(); }

  CostModel* model_;
  ValidityModel* validity_;
  LearnerOptions options_;
  FeatureMatrix rows_, failures_, evidence_, tried_;
  std::vector<double> times_us_, evidence_us_;
  std::vector<bool> valid_;  // of tried_
  std::size_t rows_at_fit_ = 0;
  double scale_ = 1;  // standard deviation of the model's scores over rows_
  int fits_ = 0;
};

}  // namespace lehr
