// Several models that saw different rows, asked together: their mean is steadier than one, and where they
// differ little is known.
#pragma once

#include <cstddef>
#include <vector>

#include "costmodel/xgboost_model.h"

namespace lehr {

/// Each member holds out other rows for its stop, and does not see them. The score is the members' mean plus
/// `optimism` standard deviations between them, each member in units of the standard deviation of its scores
/// over the training rows.
class EnsembleModel : public CostModel {
 public:
  EnsembleModel(const XgboostOptions& options, std::size_t members, double optimism);

  void fit(const Dataset& data) override;
  std::vector<double> predict(const FeatureMatrix& rows) const override;

 private:
  std::vector<XgboostModel> members_;
  std::vector<double> scales_;
  double optimism_;
};

}  // namespace lehr
