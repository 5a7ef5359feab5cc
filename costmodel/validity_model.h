// Learns the probability that a candidate compiles, runs and is right, from successes and failures. It is
// separate from the cost model, so that a failure is never treated as a fast or slow time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/forest.h"

namespace lehr {

class ValidityModel {
 public:
  /// Minimum number of failures, and of successes, from which the model learns. With fewer, every probability
  /// is 1.
  static constexpr std::size_t kFewestOfEach = 8;

  explicit ValidityModel(std::uint64_t seed = 0) : seed_(seed) {}

  /// Forgets what was learnt before, and learns these rows. `valid[i]` belongs to row i. The rows may be of
  /// any tasks, in any order.
  void fit(const FeatureMatrix& rows, const std::vector<bool>& valid);
  /// Returns P(valid) per row, in [0, 1].
  std::vector<double> predict(const FeatureMatrix& rows) const;
  bool learnt() const { return trained_.has_value(); }

 private:
  std::uint64_t seed_;
  std::optional<Trained> trained_;
};

}  // namespace lehr
