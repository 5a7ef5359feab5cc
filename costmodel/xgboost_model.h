// The learnt cost model: boosted trees that rank the candidates of a task.
#pragma once

#include <cstdint>
#include <optional>

#include "costmodel/forest.h"
#include "costmodel/model.h"

namespace lehr {

struct XgboostOptions {
  int max_depth = 6;
  double eta = 0.3;
  double min_child_weight = 1;
  /// Pairs that each row is drawn into per round. XGBoost's default of 1 learns much less from few
  /// rows (planted ranking, 300 rows: Spearman 0.66 with 1, 0.85 with 4).
  int pairs_per_row = 4;
  BoostingPlan boosting;
  double held_out_share = 0.2;
  /// OpenMP threads of XGBoost; its workers spin for a while after a call, so time nothing right then.
  int threads = 1;
  std::uint64_t seed = 0;
};

/// What the last fit did.
struct FitReport {
  std::size_t rows = 0;
  std::size_t held_out_rows = 0;  ///< 0: too few rows, nothing was held out
  int rounds = 0;
  /// On the held-out rows, by the forest that did not see them: share of pairs in the right order. Nothing
  /// where no rows were held out.
  std::optional<double> held_out_score;
};

/// Orders pairs within a group. Deterministic for the same data, options (seed and threads included) and
/// XGBoost version. Several threads may predict at one time.
class XgboostModel : public CostModel {
 public:
  explicit XgboostModel(XgboostOptions options = {}) : options_(options) {}

  /// On all rows, for as many rounds as held-out rows found best. Below 20 rows nothing is held out and few
  /// rounds are boosted; 0 rows forget everything.
  void fit(const Dataset& data) override;
  /// All equal before anything was learnt.
  std::vector<double> predict(const FeatureMatrix& rows) const override;

  const FitReport& report() const { return report_; }
  /// Per column, its share of what all splits gained, summing to 1; empty before anything was learnt, zeros
  /// where no tree splits.
  std::vector<double> gain_shares() const;

 private:
  XgboostOptions options_;
  std::optional<Trained> trained_;
  FitReport report_;
};

}  // namespace lehr
