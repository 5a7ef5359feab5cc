// AutoTVM's cost model unchanged, for comparison: TVM 0.18, python/tvm/autotvm/tuner/xgboost_cost_model.py,
// loss "reg", which is its default since 0.13.
#pragma once

#include <optional>

#include "costmodel/forest.h"
#include "costmodel/model.h"

namespace lehr {

/// Boosted trees of depth 3 (eta 0.3, gamma 1e-4, min_child_weight 1, lambda 1), fitted to best time / time
/// by squared error, for up to 8000 rounds. In every second round, the average recall of the best 64
/// *training* rows is computed; boosting stops when it has not risen for 20 rounds. All rounds are kept.
class AutotvmModel : public CostModel {
 public:
  void fit(const Dataset& data) override;
  std::vector<double> predict(const FeatureMatrix& rows) const override;

 private:
  std::optional<Forest> forest_;
};

}  // namespace lehr
