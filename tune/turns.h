// Whose turn it is to propose.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace lehr {

enum class Turn { kTrees, kProcess };

/// Turns by what each has lately gained: a gain is the logarithm of the best time before over the one after,
/// and counts half as much `kHalved` results later. Each has an eighth of the turns at least.
class Turns {
 public:
  static constexpr double kHalved = 16, kLeastShare = 0.125;

  Turn next();
  /// The result of one that was proposed in this turn.
  void result(Turn turn, std::optional<double> time_us);
  /// Of anything else.
  void other_result(double time_us);

 private:
  std::array<double, 2> gains_ = {0, 0};
  double best_us_ = 0;  // 0: none
  double owed_ = 0;     // to the process, in turns
};

}  // namespace lehr
