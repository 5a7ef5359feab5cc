// The config of a workload that is believed to be the fastest, without measuring: by the log, by other tasks,
// or by the analytic prior. Also how far such beliefs were off elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "database/database.h"
#include "tune/task.h"

namespace lehr {

enum class Belief {
  kLog,         ///< a trial of this workload on this device
  kOtherTasks,  ///< a config that is fast in other tasks of a log, or the default, by a model of all tasks
  kPrior,       ///< the default with the shortest estimate
};
/// Returns "log", "other tasks" or "prior".
std::string_view name_of(Belief belief);

struct Untuned {
  Config config;
  Belief belief = Belief::kPrior;
  std::string source;      ///< a line for people: whose trials, and how many
  std::string record;      ///< the trial's id, with kLog
  bool contested = false;  ///< whether it has won finals here, with kLog
  /// Timed trials that it is based on: this workload's with kLog, else other tasks'.
  std::int64_t trials = 0;
  /// The measured time with kLog. Else an estimate, with an interval that holds in nine of ten left-out
  /// cases.
  Time expected;
  /// The time exceeds the fastest that a search finds by at most this share (0.1: 10 %), in nine of ten
  /// left-out cases (bench/untuned_loss).
  double loss = 0;
};

/// Where beliefs come from. Nothing is written.
struct UntunedOptions {
  const Database* own = nullptr;     ///< the log with trials of the workload; nullptr: there is no such log
  const Database* others = nullptr;  ///< the log with other tasks; nullptr: there is no such log
  std::uint64_t seed = 0;            ///< of the model of other tasks
};

/// Returns the first of these that exists: the log's best trial (tune/known_best.h) whose kernel this version
/// still makes; the best of the defaults and of configs that are fast in other tasks, by their model and the
/// prior, if it is clearly better than the first default; the first default. Deterministic; takes at most
/// about a second.
Untuned untuned(const Task& task, const Candidates& candidates, const UntunedOptions& options);

/// Returns Untuned::loss. `trials` counts only with kLog.
double loss_to_expect(Belief belief, std::int64_t trials);

}  // namespace lehr
