// The learnt cost model: boosted trees that rank the candidates of a task.
#pragma once

#include <cstdint>
#include <optional>

#include "costmodel/forest.h"
#include "costmodel/model.h"

namespace lehr {

/// Learns to rank pairs of rows within a group. Deterministic for the same data, seed and version of XGBoost.
/// Several threads may predict at the same time.
class XgboostModel : public CostModel {
 public:
  explicit XgboostModel(std::uint64_t seed = 0) : seed_(seed) {}

  /// Fits all rows. The number of rounds is the one that was best for held-out rows. With fewer than 20 rows,
  /// no rows are held out and only few rounds are boosted. 0 rows reset the model.
  void fit(const Dataset& data) override;
  /// Returns equal scores for all rows if nothing has been learnt yet.
  std::vector<double> predict(const FeatureMatrix& rows) const override;

  /// Returns the number of rounds of the last fit.
  int rounds() const { return rounds_; }
  /// Returns the fraction of pairs in the right order, among the rows that the last fit held out, as ranked
  /// by a forest that was not fitted to them. nullopt if no rows were held out.
  std::optional<double> held_out_score() const { return held_out_score_; }
  /// Returns for each column its fraction of the gain of all splits. The fractions sum to 1, or are all 0 if
  /// no tree splits. Empty before anything has been learnt.
  std::vector<double> gain_shares() const;

 private:
  std::uint64_t seed_;
  std::optional<Trained> trained_;
  int rounds_ = 0;
  std::optional<double> held_out_score_;
};

}  // namespace lehr
