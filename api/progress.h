// A session's events as lines of text.
#pragma once

#include <map>
#include <string>

#include "tune/events.h"

namespace lehr {

/// Returns "best 123 us 345.6 GFLOP/s 2.31x default, 64/200 trials, 8.1/s, failed: compile 1, 12 s, ETA 14
/// s".
std::string progress_text(const Event& event);
/// Returns the event as one line of JSON.
std::string progress_json(const Event& event);
/// Returns "compile 3, timeout 1"; "" if nothing failed.
std::string failures_text(const std::map<FailureKind, int>& failed);
/// Returns a sentence if more than half of the timed trials had no calm window; else "".
std::string busy_text(int disturbed, int timed);

}  // namespace lehr
