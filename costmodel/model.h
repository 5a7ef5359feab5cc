// The interface that the search is ranked by.
#pragma once

#include <vector>

#include "costmodel/dataset.h"
#include "costmodel/features.h"

namespace lehr {

class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Replaces whatever was learnt before.
  virtual void fit(const Dataset& data) = 0;
  /// One score per row, higher is predicted faster; comparable only within one group (task).
  virtual std::vector<double> predict(const FeatureMatrix& rows) const = 0;
};

}  // namespace lehr
