// The learnt cost model: boosted trees that rank the candidates of a task.
#pragma once

#include <cstdint>
#include <optional>

#include "costmodel/forest.h"
#include "costmodel/model.h"

namespace lehr {

/// Orders pairs within a group. Deterministic for the same data, seed and XGBoost version. Several threads
/// may predict at one time.
class XgboostModel : public CostModel {
 public:
  explicit XgboostModel(std::uint64_t seed = 0) : seed_(seed) {}

  /// On all rows, for as many rounds as held-out rows found best. Below 20 rows nothing is held out and few
  /// rounds are boosted; 0 rows forget everything.
  void fit(const Dataset& data) override;
  /// All equal before anything was learnt.
  std::vector<double> predict(const FeatureMatrix& rows) const override;

  /// Of the last fit.
  int rounds() const { return rounds_; }
  /// Of the last fit, on the rows that it held out, by a forest that did not see them: share of pairs in the
  /// right order. Nothing where no rows were held out.
  std::optional<double> held_out_score() const { return held_out_score_; }
  /// Per column, its share of what all splits gained, summing to 1; empty before anything was learnt, zeros
  /// where no tree splits.
  std::vector<double> gain_shares() const;

 private:
  std::uint64_t seed_;
  std::optional<Trained> trained_;
  int rounds_ = 0;
  std::optional<double> held_out_score_;
};

}  // namespace lehr
