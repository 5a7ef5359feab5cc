// The interface of a cost model, by which the search is ranked.
#pragma once

#include <vector>

#include "costmodel/dataset.h"
#include "costmodel/features.h"

namespace lehr {

class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Replaces what was learnt before.
  virtual void fit(const Dataset& data) = 0;
  /// Returns one score per row. Higher is predicted faster. Comparable only within one group (task).
  virtual std::vector<double> predict(const FeatureMatrix& rows) const = 0;
};

}  // namespace lehr
