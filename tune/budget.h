// Every clock of a run: what was asked for, what is spent, what is kept for the end.
#pragma once

#include <functional>
#include <optional>

#include "measure/core/time_left.h"

namespace lehr {

/// Seconds of the steady clock.
double steady_now_s();

/// A time that was asked for. It begins when it is made; pauses do not count.
class Budget {
 public:
  /// Monotonic seconds.
  using Now = std::function<double()>;

  /// `limit_s` 0: no limit. `before_s` of it were spent before. `now_s` empty: steady_now_s().
  explicit Budget(double limit_s = 0, double before_s = 0, Now now_s = {});

  bool limited() const { return limit_s_ > 0; }
  double limit_s() const { return limit_s_; }
  /// Another limit from now on, above 0.
  void limit(double seconds) { limit_s_ = seconds; }
  double elapsed_s() const;
  /// Until a share of the limit is spent; negative behind it, kNoLimitS without one.
  double left_s(double share = 1) const;
  /// So much is kept for what comes last.
  void keep(double seconds) { kept_s_ = seconds; }
  double kept_s() const { return kept_s_; }
  /// Until what is kept is due, and until the end.
  TimeLeft left() const;

  void pause();
  void resume();
  bool paused() const { return !running_since_s_; }

 private:
  double limit_s_;
  double before_s_;
  Now now_s_;
  std::optional<double> running_since_s_;
  double kept_s_ = 0;
};

}  // namespace lehr
