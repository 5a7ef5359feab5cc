// When a session ends: pure rules over its progress.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lehr {

enum class StopReason {
  kTrials,       ///< the number of trials that was asked for is measured
  kTime,         ///< the time left is kept for the finals
  kPlateau,      ///< no gain for many trials, and the model expects none
  kExhausted,    ///< the space has no unmeasured config
  kFailing,      ///< nothing but failures from the start
  kInterrupted,  ///< the caller asked for it
  /// The time that several tasks share is spent, or another task promises a larger gain (many_tasks.h).
  kShared,
};

/// Returns "trials", "time", ..., as in JSON.
std::string_view name_of(StopReason reason);

/// Smallest relative gain that counts. A smaller gain is noise (tune/finals.h).
inline constexpr double kPlateauGain = 0.01;

struct StopRules {
  int trials = 0;     ///< new measurements of this session; 0: no limit
  double time_s = 0;  ///< wall time of the whole task, finals included; 0: no limit
  /// Whether the time limit also limits vendor libraries' searches: library_search_s().
  bool cut_searches = false;
  /// Number of trials in a row without a gain that ends the session; 0: no such rule.
  int plateau_trials = 0;
  /// Number of failures that ends the session if they are its only outcomes; 0: no such rule.
  int failing_trials = 96;
};

/// How far a session has come.
struct Progress {
  int trials = 0;  ///< number of trials measured by this session, failures included
  int timed = 0;   ///< number of trials that have a time, reused ones included
  /// Number of trials since the best time last fell by more than kPlateauGain.
  int trials_since_gain = 0;
  bool model_expects_gain = true;  ///< the model scores some candidate above the best measured one
  double elapsed_s = 0;
  double finals_s = 0;  ///< seconds kept for the finals
};

/// Returns the first rule that fires; nullopt: go on. The session itself observes interruption and
/// exhaustion.
std::optional<StopReason> should_stop(const StopRules& rules, const Progress& progress);

/// Returns one sentence without a full stop, for the user.
std::string explain(StopReason reason, const StopRules& rules, const Progress& progress);

/// Returns the seconds to keep for the finals with their proofs: 13 % of a limit of `time_s`, at least 2 s,
/// and at most a quarter of the limit. Without a limit (0) it is 13 % of the time spent so far, between 2 and
/// 20 s.
double finals_share_s(double time_s, double elapsed_s);

/// Returns the seconds that each vendor library may search for its fastest algorithm if `cut_searches` is
/// set: a twentieth of the time limit, or, for tasks that share a time limit, a fifth of `finals_s`. 0: no
/// limit.
double library_search_s(const StopRules& rules, double finals_s);

}  // namespace lehr
