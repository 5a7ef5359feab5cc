// When and on what the cost model is fitted during a session.
#pragma once

#include <span>

#include "costmodel/model.h"

namespace lehr {

/// Collects feature rows with times and refits the model now and then. Counts, never clocks, decide: the same
/// trials give the same models.
class Learner {
 public:
  /// Borrows `model`; nullptr: nothing is ever learnt.
  explicit Learner(CostModel* model) : model_(model) {}

  void add(std::span<const float> row, double time_us);
  /// Rows of another device or template version. They are learnt from, as a group of their own, until the
  /// session has kTrustOwn rows: similar in shape, but not this device's truth.
  void add_evidence(std::span<const float> row, double time_us);

  /// Fits when enough rows are new: at least 12 in the beginning, then an eighth of all rows, so that the
  /// total time of fitting stays proportional to the last fit. Returns whether it did.
  bool refit_if_due();
  /// The fitted model, or nullptr before the first fit.
  const CostModel* model() const { return fitted_ ? model_ : nullptr; }
  int fits() const { return fits_; }

  static constexpr std::size_t kFirstFit = 12;
  static constexpr std::size_t kTrustOwn = 64;

 private:
  CostModel* model_;
  FeatureMatrix rows_{feature_table().size()}, evidence_{feature_table().size()};
  std::vector<double> times_us_, evidence_us_;
  std::size_t rows_at_fit_ = 0;
  bool fitted_ = false;
  int fits_ = 0;
};

}  // namespace lehr
