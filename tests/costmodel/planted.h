// Datasets with a planted ranking, for the tests of the models.
#pragma once

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "costmodel/dataset.h"

namespace lehr::test {

struct Planted {
  FeatureMatrix rows{feature_table().size()};
  std::vector<double> times_us;
};

/// Returns `n` random rows whose time is a smooth function of five columns, with an interaction and a step,
/// times `scale`.
inline Planted planted(std::size_t n, std::uint64_t seed, double scale = 1) {
  Rng rng(seed);
  Planted result;
  std::vector<float> row(feature_table().size());
  for (std::size_t i = 0; i < n; ++i) {
    for (float& value : row) value = static_cast<float>(rng.below(8));
    const double log_time = 0.3 * std::abs(row[3] - 4) + 0.2 * row[17] -
                            0.15 * row[40] * (row[60] > 3 ? 1 : 0) + (row[90] > 5 ? 0.8 : 0);
    result.rows.append(row);
    result.times_us.push_back(scale * std::exp(log_time));
  }
  return result;
}

/// Returns random rows with random times that have nothing to do with them.
inline Planted noise(std::size_t n, std::uint64_t seed) {
  Planted result = planted(n, seed);
  Rng rng = Rng(seed).fork("noise");
  for (double& time : result.times_us) time = 1 + rng.uniform();
  return result;
}

/// Returns truths for the metrics: higher is better.
inline std::vector<double> speeds(const std::vector<double>& times_us) {
  std::vector<double> result;
  for (const double time : times_us) result.push_back(1 / time);
  return result;
}

}  // namespace lehr::test
