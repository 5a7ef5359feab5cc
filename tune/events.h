// Events of a session while it runs. They are values for callers that show them; nothing in tune/ prints.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "record/outcome.h"

namespace lehr {

enum class EventKind {
  kSetup,    ///< inputs and the expected output are being computed
  kResumed,  ///< `note` says what earlier runs contributed
  kTrial,    ///< the outcome of one candidate is known; `note` is the first line of its failure, else ""
  kNewBest,  ///< the same as kTrial, and the candidate is the fastest so far; `note` is its config
  kFitted,   ///< the cost model was fitted again
  kFinals,   ///< the finalists are about to be timed against each other
};

/// Progress of several tasks that share their time (many_tasks.h).
struct SharedProgress {
  int tasks = 0, known = 0;  ///< number of tasks; number of tasks that have a time
  double best_us = 0;        ///< sum over the tasks that have a time, each times its occurrences
  double default_us = 0;     ///< the same sum of the default schedules' times
  int measured = 0;          ///< trials of all tasks
};

struct Event {
  EventKind kind = EventKind::kTrial;
  std::string note;
  double elapsed_s = 0;
  std::optional<double> eta_s;  ///< seconds until the end of the task; nullopt: not known yet
  int measured = 0;             ///< trials of this session, failures included
  int trial_limit = 0;          ///< 0: no limit
  std::map<FailureKind, int> failed;
  double trials_per_s = 0;
  double default_us = 0;  ///< 0: not timed yet
  Time best;              ///< us 0: nothing is timed yet
  double best_gflops = 0;
  /// Set if several tasks share their time. Then `elapsed_s`, `eta_s` and `trials_per_s` are those of all
  /// tasks.
  std::optional<SharedProgress> shared = std::nullopt;
};

using EventSink = std::function<void(const Event&)>;

/// Returns `sink` with its exceptions caught: after the first one, neither this function nor a copy of it
/// calls the sink again. A failure to show something must not harm the measurement.
template <typename Shown>
std::function<void(const Shown&)> harmless(std::function<void(const Shown&)> sink) {
  return [sink = std::make_shared<std::function<void(const Shown&)>>(std::move(sink))](const Shown& shown) {
    try {
      if (*sink) (*sink)(shown);
    } catch (...) {
      *sink = nullptr;
    }
  };
}

}  // namespace lehr
