// The interface of cost models. The search ranks candidates by them.
#pragma once

#include <vector>

#include "costmodel/dataset.h"
#include "costmodel/features.h"

namespace lehr {

class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Forgets what was learnt before, and learns `data`.
  virtual void fit(const Dataset& data) = 0;
  /// Returns one score per row; higher means faster. Scores can be compared only within one group (task).
  virtual std::vector<double> predict(const FeatureMatrix& rows) const = 0;
};

}  // namespace lehr
