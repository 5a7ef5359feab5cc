// Decides which proposer has the next turn.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace lehr {

enum class Turn { kTrees, kGaussian };

/// Divides turns by each proposer's recent gains. A gain is the logarithm of (best time before the result /
/// best time after it). After `kHalved` more results a gain counts half as much. Each proposer has at least
/// the fraction kLeastShare of the turns.
class Turns {
 public:
  static constexpr double kHalved = 16, kLeastShare = 0.125;

  Turn next();
  /// Adds the result of a config that was proposed in a turn of `turn`'s proposer.
  void result(Turn turn, std::optional<double> time_us);
  /// Adds the result of a config that neither of them proposed in a turn.
  void other_result(double time_us);

 private:
  std::array<double, 2> gains_ = {0, 0};
  double best_us_ = 0;  // 0: nothing timed yet
  double owed_ = 0;     // turns owed to the Gaussian process
};

}  // namespace lehr
