// When a session ends: pure rules over what it has done so far.
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
  kShared,  ///< the time that several tasks share is spent, or promises more for another task (many_tasks.h)
};

/// Returns "trials", "time", ..., as in JSON.
std::string_view name_of(StopReason reason);

/// Smallest relative gain that counts: below it is noise (tune/finals.h).
inline constexpr double kPlateauGain = 0.01;

struct StopRules {
  int trials = 0;     ///< new measurements of this session; 0: no limit
  double time_s = 0;  ///< wall time of the whole task, finals included; 0: no limit
  /// Whether the time limit also limits vendor libraries' searches: library_search_s().
  bool cut_searches = false;
  int plateau_trials = 0;  ///< trials without a gain that stop the session; 0: they never do
  /// Failures from the start without one timing that stop the session; 0: they never do.
  int failing_trials = 96;
};

/// How far a session has come.
struct Progress {
  int trials = 0;                  ///< measured by this session, failures included
  int timed = 0;                   ///< number of those and of the reused ones that have a time
  int trials_since_gain = 0;       ///< since the best time last fell by more than kPlateauGain
  bool model_expects_gain = true;  ///< the model scores some candidate above the best measured one
  double elapsed_s = 0;
  double finals_s = 0;  ///< kept for the finals
};

/// Returns the first rule that fires; nullopt: go on. Interruption and exhaustion are observed by the session
/// itself.
std::optional<StopReason> should_stop(const StopRules& rules, const Progress& progress);

/// Returns one sentence without a full stop, for the user.
std::string explain(StopReason reason, const StopRules& rules, const Progress& progress);

/// Returns the seconds to keep for the finals and all that belongs to them: 13 % of a limit of `time_s`, at
/// least 2 s, at most a quarter of it. Without a limit (0): 13 % of the time spent so far, between 2 and 20
/// s.
double finals_share_s(double time_s, double elapsed_s);

/// Returns the seconds that each vendor library may search for its fastest algorithm if `cut_searches` is
/// set: a twentieth of the limit, or, for tasks that share a time, a fifth of the finals'. 0: no limit.
double library_search_s(const StopRules& rules, double finals_s);

}  // namespace lehr
