// The end of a session: which kernels are timed against the default, when each is proven, and which one wins.
// Only decisions: functions of times, costs and the seconds that are left.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/core/ratio.h"
#include "measure/worker/contest.h"
#include "tune/trials.h"

namespace lehr {

/// Returns the positions in trials.all() of at most `count` fastest trials with different kernels, the
/// fastest first. Kernels are compared by source hash where both are known. The default is left out.
std::vector<std::size_t> pick_finalists(const Trials& trials, const std::optional<Point>& the_default,
                                        std::size_t count);

// --- how the time is split

/// Costs of a kernel in the finals, in seconds.
struct FinalistCost {
  double call_s = 0;
  double load_s = 0;
  double check_s = 0;  ///< one call, and comparing its output
};

/// Costs of finals, in seconds.
struct FinalsCosts {
  std::optional<FinalistCost> the_default;  ///< nullopt: there is no default
  std::vector<FinalistCost> finalists;      ///< the fastest first
  SwapCosts inputs;
  double compile_s = 0;  ///< for each kernel; 0: all are compiled
  int libraries = 0;
  double library_s = 0;  ///< for starting each
  int challengers = 0;
  double challenger_s = 0;  ///< for compiling each
};

struct FinalsPlan {
  std::size_t finalists = 0;  ///< number that take part beside the default
  bool challengers = true;    ///< whether challengers take part
  ContestTime contest;
  double search_s = kNoLimitS;  ///< seconds that each library may search for its fastest algorithm
};

/// Splits the time that is `left`. The proofs of the fastest and of the default are set aside first. If the
/// rest is short, these give way in this order: finalists down to two, the libraries' searches, rounds down
/// to kLeastRounds, libraries, challengers, the second finalist, the default's proof, the fastest one's
/// proof. Returns nullopt if there is no time for a contest.
std::optional<FinalsPlan> plan_finals(const FinalsCosts& costs, TimeLeft left, const ContestOptions& contest);
/// Returns the least seconds of finals in which the fastest of two finalists and the default are proven.
double least_finals_s(const FinalsCosts& costs, const ContestOptions& contest);

// --- who is proven

enum class ProofState {
  kNone,    ///< not asked for, or no time
  kHalf,    ///< right on other inputs
  kProven,  ///< right on these and on its own inputs, in many calls
  kFailed,
};
/// Returns "none", "half", "proven" or "failed", as in JSON.
std::string_view name_of(ProofState proof);

/// A kernel that may be reported as the winner.
struct Contender {
  std::size_t entry = 0;  ///< position in the contest
  double check_s = 0;
  bool is_default = false;
  ProofState proof = ProofState::kNone;
};
struct ProofStep {
  std::size_t contender = 0;
  Inputs inputs = Inputs::kOther;
  double seconds = 0;  ///< for Measurer::prove()
};

/// Returns the first contender that has not failed, which is the one to report. nullptr: all failed.
const Contender* leader_of(std::span<const Contender> contenders);
/// Returns the next step, or nullopt if nothing is left to prove or no step fits. `contenders` are ordered:
/// first those that are faster than the default by more than the noise, the fastest first, then the default,
/// then the rest.
/// Inputs are swapped once. On other inputs come the leader, then the default, then more contenders while
/// there is `left.wanted_s`. On their own inputs come the leader and the default. The default's proof only
/// guards the ratio. If the leader fails, the next contender takes its place; other inputs are put in place
/// again if it has not been called on them.
std::optional<ProofStep> next_proof(std::span<const Contender> contenders, Inputs in_place, SwapCosts swaps,
                                    TimeLeft left);

// --- who has won

/// Returns the positions of the entries that may win, in the order of next_proof(). The first `sources` of
/// `entries` are kernels; entry 0 is the default if there is one. A kernel beats the default by at least 1 %
/// (smaller differences came out in the wrong order in a third of repeated runs) and by more than the noise:
/// the whole interval of the ratio is above 1. Without a default the entries are ordered by time. An entry
/// that was not timed to the end is left out. If that is the default, the result is empty.
std::vector<std::size_t> ranking(const std::vector<ContestEntry>& entries, std::size_t sources,
                                 bool has_default);
/// Returns the verdict on entry `winner`, beside the default and the libraries.
Verdict verdict_of(const std::vector<ContestEntry>& entries, std::size_t sources, bool has_default,
                   std::size_t winner);

/// Whether a candidate beats the default by single trials, when there was no contest: by at least 1 %, with
/// intervals that do not touch. If the default is the reference kernel of both, a candidate confirmed by a
/// second window need only be faster in both windows.
bool beats(const Timing& candidate, const Timing& default_timing);

}  // namespace lehr
