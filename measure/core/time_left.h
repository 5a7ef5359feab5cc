// The time that is left of a limit.
#pragma once

namespace lehr {

/// Seconds left if there is no limit.
inline constexpr double kNoLimitS = 1e9;

/// Seconds from now until limits. A negative value means that the limit has passed.
struct TimeLeft {
  /// Before this time, work is done as well as possible. After this time, only necessary work is done: a
  /// checked call and the minimum number of samples.
  double wanted_s = kNoLimitS;
  /// After this time no work begins. Work that is still running is stopped and counts as never begun.
  double most_s = kNoLimitS;
  /// A compilation that is still running at this time is stopped, too, so that a very long compilation does
  /// not use up time kept for later steps.
  double compile_s = kNoLimitS;
};

}  // namespace lehr
