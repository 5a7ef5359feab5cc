// The config of a workload that is expected to be the fastest, without measuring: from the log, from other
// tasks, or from the analytic prior. Also how far such expectations were off in earlier experiments.
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
  kLog,  ///< a trial of this workload on this device
  /// A config that is fast in other tasks of a log, or the default; chosen by a model of all tasks.
  kOtherTasks,
  kPrior,  ///< the default with the shortest estimate
};
/// Returns "log", "other tasks" or "prior".
std::string_view name_of(Belief belief);

struct Untuned {
  Config config;
  Belief belief = Belief::kPrior;
  std::string source;      ///< a line for users: whose trials, and how many
  std::string record;      ///< the trial's id; set only with kLog
  bool contested = false;  ///< whether the config has won finals here; set only with kLog
  /// Number of timed trials that the belief is based on: this workload's with kLog, else other tasks'.
  std::int64_t trials = 0;
  /// With kLog the measured time. With another belief an estimate, whose interval contained the time in nine
  /// of ten left-out cases.
  Time expected;
  /// Upper bound of the loss, as a fraction (0.1: 10 %): the time divided by the fastest time that a search
  /// finds, less 1. It held in nine of ten left-out cases (bench/untuned_loss).
  double loss = 0;
};

/// Logs that beliefs come from. Nothing is written to them.
struct UntunedOptions {
  const Database* own = nullptr;     ///< the log with trials of the workload; nullptr: there is no such log
  const Database* others = nullptr;  ///< the log with other tasks; nullptr: there is no such log
  std::uint64_t seed = 0;            ///< seed of the model of other tasks
};

/// Returns the first of the following that exists. First, the log's best trial (tune/known_best.h), if this
/// version still makes its kernel. Second, the best of the defaults and of configs that are fast in other
/// tasks, by their model and the prior, if it is clearly better than the first default. Third, the first
/// default. Deterministic; takes at most about a second.
Untuned untuned(const Task& task, const Candidates& candidates, const UntunedOptions& options);

/// Returns Untuned::loss. `trials` matters only with kLog.
double loss_to_expect(Belief belief, std::int64_t trials);

}  // namespace lehr
