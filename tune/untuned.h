// What a workload's fastest config is thought to be while nothing is measured: by the log, by other tasks, or
// by the analytic prior; and how far such beliefs were from the truth elsewhere.
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
  kOtherTasks,  ///< what is fast in other tasks of a log, or the default, by a model of them all
  kPrior,       ///< the default with the shortest estimate
};
/// "log", "other tasks", "prior".
std::string_view name_of(Belief belief);

struct Untuned {
  Config config;
  Belief belief = Belief::kPrior;
  std::string source;       ///< a line for people: whose trials, how many
  std::string record;       ///< of kLog: the trial's id
  bool contested = false;   ///< of kLog: it has won finals here
  std::int64_t trials = 0;  ///< timed ones that it goes by: of kLog this workload's, else other tasks'
  /// Of kLog what was measured. Else an estimate, and nine in ten left-out cases took a time in the interval.
  Time expected;
  /// The time is at most so much above the fastest that a search finds (0.1: 10 %) in nine of ten left-out
  /// cases (bench/untuned_loss).
  double loss = 0;
};

/// Where beliefs come from. Nothing is written.
struct UntunedOptions {
  const Database* own = nullptr;     ///< the log with trials of the workload; nullptr: none is asked
  const Database* others = nullptr;  ///< the log with other tasks; nullptr: none is asked
  std::uint64_t seed = 0;            ///< of the model of other tasks
};

/// The first that there is: the log's best trial (tune/known_best.h) whose kernel this version still makes;
/// of the defaults and what is fast in other tasks the best by their model and the prior, if it is clearly
/// better than the first default; the first default.
/// Deterministic; about a second at most.
Untuned untuned(const Task& task, const Candidates& candidates, const UntunedOptions& options);

/// Untuned::loss. `trials`: of kLog.
double loss_to_expect(Belief belief, std::int64_t trials);

}  // namespace lehr
