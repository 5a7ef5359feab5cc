// The end of a session: who is timed against the default, who is proven when, and who has won. Decisions
// alone: functions of times, costs and the seconds that are left.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/core/ratio.h"
#include "measure/worker/contest.h"
#include "tune/trials.h"

namespace lehr {

/// The fastest trials with different kernels (by source hash where both are known), the default left out; at
/// most `count`, fastest first. Positions in trials.all().
std::vector<std::size_t> pick_finalists(const Trials& trials, const std::optional<Point>& the_default,
                                        std::size_t count);

// --- how the time is split

/// Costs of a kernel in the finals, in seconds.
struct FinalistCost {
  double call_s = 0;
  double load_s = 0;
  double check_s = 0;  ///< a call, and the comparison of its output
};

/// Costs of finals, in seconds.
struct FinalsCosts {
  std::optional<FinalistCost> the_default;  ///< nullopt: none takes part
  std::vector<FinalistCost> finalists;      ///< the fastest first
  SwapCosts inputs;
  double compile_s = 0;  ///< for each kernel; 0: their binaries are there
  int libraries = 0;
  double library_s = 0;  ///< to start each
  int challengers = 0;
  double challenger_s = 0;  ///< to compile each
};

struct FinalsPlan {
  std::size_t finalists = 0;  ///< that take part beside the default
  bool challengers = true;    ///< take part
  ContestTime contest;
  double search_s = kNoLimitS;  ///< that each library may search for its fastest algorithm
};

/// Splits the time that is `left`. What proves the fastest and the default is set aside first. Where the rest
/// is short, this gives way, in this order: finalists down to two, the libraries' searches, rounds down to
/// kLeastRounds, libraries, challengers, the second finalist, the default's proof, the fastest one's.
/// nullopt: there is no time for a contest.
std::optional<FinalsPlan> plan_finals(const FinalsCosts& costs, TimeLeft left, const ContestOptions& contest);
/// The least that finals take in which the fastest of two finalists is proven, and the default; seconds.
double least_finals_s(const FinalsCosts& costs, const ContestOptions& contest);

// --- who is proven

enum class ProofState {
  kNone,    ///< not asked for, or there was no time
  kHalf,    ///< right on other inputs
  kProven,  ///< right on these and on its own, in many calls
  kFailed,
};
/// "none", "half", "proven", "failed": as in JSON.
std::string_view name_of(ProofState proof);

/// One that may be told as the winner.
struct Contender {
  std::size_t entry = 0;  ///< in the contest
  double check_s = 0;
  bool is_default = false;
  ProofState proof = ProofState::kNone;
};
struct ProofStep {
  std::size_t contender = 0;
  Inputs inputs = Inputs::kOther;
  double seconds = 0;  ///< for Measurer::prove()
};

/// The first that did not fail: the one that is told. nullptr: all failed.
const Contender* leader_of(std::span<const Contender> contenders);
/// Returns the next step, or nullopt if nothing is left to prove or no step fits. `contenders`: those that
/// are faster than the default by more than the noise, the fastest first, then the default, then the rest.
/// Inputs are swapped once: the leader comes first on the other ones, then the default, then others while it
/// is `left.wanted_s`; then the leader on its own, and the default. The default's proof guards the ratio
/// alone. Only if the leader fails does the next one take its place, and other inputs are put in place again
/// if that one was not called on them.
std::optional<ProofStep> next_proof(std::span<const Contender> contenders, Inputs in_place, SwapCosts swaps,
                                    TimeLeft left);

// --- who has won

/// Returns the entries that may be told, in the order of next_proof(). `entries`: first `sources`
/// kernels, of which entry 0 is the default if there is one, then others. One beats the default by 1 % or
/// more (smaller differences came out in the wrong order in a third of repeated runs) and by more than the
/// noise: the whole interval of the ratio is above 1. Without a default the order is that of their times. Who
/// was not timed to the end is not among them; where the default was not, the result is empty.
std::vector<std::size_t> ranking(const std::vector<ContestEntry>& entries, std::size_t sources,
                                 bool has_default);
/// Returns the verdict on entry `winner`, beside the default and the libraries.
Verdict verdict_of(const std::vector<ContestEntry>& entries, std::size_t sources, bool has_default,
                   std::size_t winner);

/// From single trials, when there was no contest: by 1 % or more, and the intervals of the two times do not
/// touch. Where the default is the reference kernel of both, a candidate that was confirmed by a second
/// window need only be faster in both of them.
bool beats(const Timing& candidate, const Timing& default_timing);

}  // namespace lehr
