// When a session ends: pure rules over what it has done so far.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lehr {

enum class StopReason {
  kTrials,       ///< the number of trials asked for is measured
  kTime,         ///< the time left is kept for the finals
  kPlateau,      ///< no gain for a long time, and the model expects none
  kExhausted,    ///< the space has no config that was not measured
  kFailing,      ///< nothing but failures from the start
  kInterrupted,  ///< the caller asked for it
  kShared,       ///< the time that several tasks share is spent, or promises more elsewhere (many_tasks.h)
};

/// "trials", "time", ...: the spelling in JSON.
std::string_view name_of(StopReason reason);

/// Relative gain that counts as one; below it is noise (tune/finals.h).
inline constexpr double kPlateauGain = 0.01;

struct StopRules {
  int trials = 0;             ///< new measurements of this session; 0: no limit
  double time_s = 0;          ///< wall time of the whole task, finals included; 0: no limit
  bool cut_searches = false;  ///< the time is of vendor libraries' searches, too: library_search_s()
  int plateau_trials = 0;     ///< trials without a gain; 0: never stop for it
  int failing_trials = 96;    ///< failures from the start without one timing; 0: never stop for it
};

/// How far a session has come.
struct Progress {
  int trials = 0;                  ///< measured by this session, failures included
  int timed = 0;                   ///< of those and of the reused ones, those with a time
  int trials_since_gain = 0;       ///< since the best time last fell by more than kPlateauGain
  bool model_expects_gain = true;  ///< the model scores some candidate above the best measured one
  double elapsed_s = 0;
  double finals_s = 0;  ///< kept for the finals
};

/// The first rule that fires; nullopt: go on. Interruption and exhaustion are the session's own observations.
std::optional<StopReason> should_stop(const StopRules& rules, const Progress& progress);

/// One sentence without a full stop, for the user.
std::string explain(StopReason reason, const StopRules& rules, const Progress& progress);

/// Seconds to keep for the finals, all that belongs to them included: 13 % of a limit of `time_s`, at least
/// 2 s, never above a quarter of it. Without a limit (0): 13 % of the time spent so far, between 2 and 20 s.
double finals_share_s(double time_s, double elapsed_s);

/// Seconds that each vendor library may search for its fastest way, where `cut_searches` is set: a twentieth
/// of the limit, or of tasks that share a time a fifth of what the finals have. 0: no limit.
double library_search_s(const StopRules& rules, double finals_s);

}  // namespace lehr
