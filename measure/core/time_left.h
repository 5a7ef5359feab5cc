// The time that was asked for, as those who spend it are told.
#pragma once

namespace lehr {

/// Seconds left where nothing limits them.
inline constexpr double kNoLimitS = 1e9;

/// In seconds from now. Negative: passed.
struct TimeLeft {
  /// Until then everything is done as well as it can be; behind it only what an answer needs: a checked call
  /// and the fewest samples.
  double wanted_s = kNoLimitS;
  /// Behind it nothing is begun, and what still runs is ended, as if it had never been begun.
  double most_s = kNoLimitS;
  /// A compilation still running then is ended, too, so that a very long one does not take the time that is
  /// kept for later steps.
  double compile_s = kNoLimitS;
};

}  // namespace lehr
