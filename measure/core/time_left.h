// The time that is left of a limit.
#pragma once

namespace lehr {

/// Seconds left if there is no limit.
inline constexpr double kNoLimitS = 1e9;

/// Seconds from now. Negative: passed.
struct TimeLeft {
  /// Until then everything is done as well as possible. After it only necessary work is done: a checked call
  /// and the fewest samples.
  double wanted_s = kNoLimitS;
  /// After it nothing begins, and what still runs is ended as if it had never begun.
  double most_s = kNoLimitS;
  /// A compilation that is still running then is ended, too, so that a very long one does not use up time
  /// kept for later steps.
  double compile_s = kNoLimitS;
};

}  // namespace lehr
