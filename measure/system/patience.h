// How long to wait for another process: until a deadline, and no longer than a moment once the user wants to
// end.
#pragma once

#include <atomic>

#include "measure/system/process.h"

namespace lehr {

/// From now on whatever waits with a Patience gives up a second after it began, once `flag` is set. `flag`
/// lives as long as the process.
void give_up_when(const std::atomic<bool>& flag);
/// Whether that flag is set.
bool asked_to_end();

/// Of one wait, from its construction on.
class Patience {
 public:
  explicit Patience(Deadline deadline) : deadline_(deadline), given_up_at_(deadline_in(1)) {}

  bool timed_out() const { return milliseconds_left(deadline_) == 0; }
  bool gives_up() const { return asked_to_end() && milliseconds_left(given_up_at_) == 0; }
  /// For poll(): until the deadline, but never so long that a flag set meanwhile goes unseen.
  int poll_ms() const;

 private:
  Deadline deadline_;
  Deadline given_up_at_;
};

}  // namespace lehr
