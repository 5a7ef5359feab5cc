// Decides which proposer has the next turn.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace lehr {

enum class Turn { kTrees, kGaussian };

/// Divides turns by each proposer's recent gains. A gain is the logarithm of the best time before over the
/// one after; it counts half as much `kHalved` results later. Each proposer has at least an eighth of the
/// turns.
class Turns {
 public:
  static constexpr double kHalved = 16, kLeastShare = 0.125;

  Turn next();
  /// Takes the result of a config that was proposed in such a turn.
  void result(Turn turn, std::optional<double> time_us);
  /// Takes the result of any other config.
  void other_result(double time_us);

 private:
  std::array<double, 2> gains_ = {0, 0};
  double best_us_ = 0;  // 0: nothing timed yet
  double owed_ = 0;     // turns owed to the Gaussian process
};

}  // namespace lehr
