// The learnt cost model: boosted trees that rank the candidates of a task.
#pragma once

#include <cstdint>
#include <optional>

#include "costmodel/forest.h"
#include "costmodel/model.h"

namespace lehr {

/// Ranks pairs within a group. Deterministic for the same data, seed and XGBoost version. Several threads may
/// predict at one time.
class XgboostModel : public CostModel {
 public:
  explicit XgboostModel(std::uint64_t seed = 0) : seed_(seed) {}

  /// Fits all rows, for as many rounds as held-out rows found best. With fewer than 20 rows nothing is held
  /// out and few rounds are boosted. 0 rows reset the model.
  void fit(const Dataset& data) override;
  /// Returns equal scores if nothing was learnt yet.
  std::vector<double> predict(const FeatureMatrix& rows) const override;

  /// Returns the rounds of the last fit.
  int rounds() const { return rounds_; }
  /// Returns the share of pairs in the right order among the rows that the last fit held out, ranked by a
  /// forest that did not see them. nullopt if no rows were held out.
  std::optional<double> held_out_score() const { return held_out_score_; }
  /// Returns, per column, its share of the gain of all splits. Shares sum to 1, or are all 0 if no tree
  /// splits. Empty before anything was learnt.
  std::vector<double> gain_shares() const;

 private:
  std::uint64_t seed_;
  std::optional<Trained> trained_;
  int rounds_ = 0;
  std::optional<double> held_out_score_;
};

}  // namespace lehr
