// The stop rules and their sentences.
#include "tune/stop.h"

#include <fmt/core.h>

#include <algorithm>

namespace lehr {

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::kTrials:
      return "trials";
    case StopReason::kTime:
      return "time";
    case StopReason::kPlateau:
      return "plateau";
    case StopReason::kExhausted:
      return "exhausted";
    case StopReason::kFailing:
      return "failing";
    case StopReason::kInterrupted:
      return "interrupted";
    case StopReason::kShared:
      return "shared";
  }
  return "";
}

std::optional<StopReason> should_stop(const StopRules& rules, const Progress& progress) {
  if (rules.trials > 0 && progress.trials >= rules.trials) return StopReason::kTrials;
  if (rules.time_s > 0 && progress.elapsed_s + progress.finals_s >= rules.time_s) return StopReason::kTime;
  if (rules.failing_trials > 0 && progress.timed == 0 && progress.trials >= rules.failing_trials)
    return StopReason::kFailing;
  if (rules.plateau_trials > 0 && progress.trials_since_gain >= rules.plateau_trials &&
      !progress.model_expects_gain)
    return StopReason::kPlateau;
  return std::nullopt;
}

std::string explain(StopReason reason, const StopRules& rules, const Progress& progress) {
  switch (reason) {
    case StopReason::kTrials:
      return fmt::format("{} trials are measured, as asked for", rules.trials);
    case StopReason::kTime:
      return fmt::format("the time limit of {:g} s is reached, of which {:.1f} s were kept for the finals",
                         rules.time_s, progress.finals_s);
    case StopReason::kPlateau:
      return fmt::format("no gain above {:g} % in the last {} trials, and the model expects none",
                         100 * kPlateauGain, progress.trials_since_gain);
    case StopReason::kExhausted:
      return "every config of the space that could be found is measured";
    case StopReason::kFailing:
      return fmt::format("all of the first {} candidates failed", progress.trials);
    case StopReason::kInterrupted:
      return "interrupted; everything measured so far is in the database";
    case StopReason::kShared:
      return "of the time that the tasks share, the rest went to others or is spent";
  }
  return "";
}

double finals_share_s(double time_s, double elapsed_s) {
  constexpr double kShare = 0.13, kMostShare = 0.25;
  if (time_s > 0) return std::min(std::max(2.0, kShare * time_s), kMostShare * time_s);
  return std::clamp(kShare * elapsed_s, 2.0, 20.0);
}

double library_search_s(const StopRules& rules, double finals_s) {
  constexpr double kShare = 0.05, kShareOfFinals = 0.2;
  if (!rules.cut_searches) return 0;
  return rules.time_s > 0 ? kShare * rules.time_s : kShareOfFinals * finals_s;
}

}  // namespace lehr
