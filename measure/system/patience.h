// Decides how long to wait for another process: until a deadline, but only a moment longer once the user
// wants to stop.
#pragma once

#include <atomic>

#include "measure/system/process.h"

namespace lehr {

/// The patience of one wait, which begins when this is constructed. Once `stop` is set it gives up, but not
/// before a second has passed. If `stop` is nullptr, it never gives up.
class Patience {
 public:
  Patience(Deadline deadline, const std::atomic<bool>* stop)
      : deadline_(deadline), given_up_at_(deadline_in(1)), stop_(stop) {}

  bool timed_out() const { return milliseconds_left(deadline_) == 0; }
  bool gives_up() const { return stop_ != nullptr && *stop_ && milliseconds_left(given_up_at_) == 0; }
  /// Returns the timeout for poll(). It ends at the deadline, but is short enough to notice a `stop` that is
  /// set meanwhile.
  int poll_ms() const {
    constexpr int kUnseenMs = 50;
    const int left = milliseconds_left(deadline_);
    return left < kUnseenMs ? left : kUnseenMs;
  }

 private:
  Deadline deadline_;
  Deadline given_up_at_;
  const std::atomic<bool>* stop_;
};

}  // namespace lehr
