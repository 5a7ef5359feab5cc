// How long to wait for another process: until a deadline, and no longer than a moment once the user wants to
// end.
#pragma once

#include <atomic>

#include "measure/system/process.h"

namespace lehr {

/// Of one wait, from its construction on. It gives up a second after it began, once `stop` is set; nullptr:
/// never.
class Patience {
 public:
  Patience(Deadline deadline, const std::atomic<bool>* stop)
      : deadline_(deadline), given_up_at_(deadline_in(1)), stop_(stop) {}

  bool timed_out() const { return milliseconds_left(deadline_) == 0; }
  bool gives_up() const { return stop_ != nullptr && *stop_ && milliseconds_left(given_up_at_) == 0; }
  /// For poll(): until the deadline, but never so long that a flag set meanwhile goes unseen.
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
