// Decisions at the end of a session: which kernels are timed against the default, when each kernel is proven,
// and which kernel wins. All decisions are pure functions of times, costs and the seconds that are left.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/core/ratio.h"
#include "measure/worker/contest.h"
#include "tune/trials.h"

namespace lehr {

/// Returns the positions in trials.all() of the fastest trials, the fastest first. At most `count` positions
/// are returned, and each kernel occurs only once. Trials with the same source hash have the same kernel. A
/// trial whose hash is not known counts as a kernel of its own. The default is left out.
std::vector<std::size_t> pick_finalists(const Trials& trials, const std::optional<Point>& the_default,
                                        std::size_t count);

// --- how the time is split

/// Costs of a kernel in the finals, in seconds.
struct FinalistCost {
  double call_s = 0;
  double load_s = 0;
  double check_s = 0;  ///< one call, and the comparison of its output
};

/// Costs of finals, in seconds.
struct FinalsCosts {
  std::optional<FinalistCost> the_default;  ///< nullopt: there is no default
  std::vector<FinalistCost> finalists;      ///< the fastest first
  SwapCosts inputs;
  double compile_s = 0;  ///< for compiling one kernel; 0: all kernels are compiled already
  int libraries = 0;
  double library_s = 0;  ///< for starting one library
  int challengers = 0;
  double challenger_s = 0;  ///< for compiling one challenger
};

struct FinalsPlan {
  std::size_t finalists = 0;  ///< number of finalists besides the default
  bool challengers = true;    ///< whether challengers take part
  ContestTime contest;
  double search_s = kNoLimitS;  ///< seconds that each library may search for its fastest algorithm
};

/// Divides the time that is `left` among the parts of the finals. Time for the proofs of the fastest kernel
/// and of the default is reserved first. If the remaining time is too short, the plan does without the
/// following, in this order: all finalists but two, the searches of the libraries, all rounds but
/// kLeastRounds, the libraries, the challengers, the second finalist, the proof of the default, the proof of
/// the fastest kernel. Returns nullopt if there is no time for a contest.
std::optional<FinalsPlan> plan_finals(const FinalsCosts& costs, TimeLeft left, const ContestOptions& contest);
/// Returns the shortest possible duration, in seconds, of finals with two finalists that prove the default
/// and the faster finalist.
double least_finals_s(const FinalsCosts& costs, const ContestOptions& contest);

// --- who is proven

enum class ProofState {
  kNone,    ///< no proof was asked for, or there was no time
  kHalf,    ///< the results on the other inputs are right
  kProven,  ///< the results on the other inputs and on the search's inputs are right
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

/// Returns the first contender whose proof has not failed. This contender will be reported as the winner.
/// Returns nullptr if all proofs have failed.
const Contender* leader_of(std::span<const Contender> contenders);
/// Returns the next step. Returns nullopt if nothing is left to prove, or if no step fits into the time that
/// is left. `contenders` must be ordered: first the kernels that are faster than the default by more than the
/// noise, the fastest first, then the default, then all other kernels. The other inputs are put in place
/// once. With these inputs the leader is proven first, then the default, then further contenders until
/// `left.wanted_s` is used up. Then the search's own inputs are put back, and the leader and the default are
/// proven with them. The proof of the default only protects the reported ratio. If the proof of the leader
/// fails, the next contender becomes the leader. If the new leader has not been proven with the other inputs
/// yet, these inputs are put in place again.
std::optional<ProofStep> next_proof(std::span<const Contender> contenders, Inputs in_place, SwapCosts swaps,
                                    TimeLeft left);

// --- who has won

/// Returns the positions of the entries that may win, in the order of next_proof(). The first `sources`
/// entries are kernels; if there is a default, it is entry 0. A kernel beats the default if it is faster by
/// at least 1 % (smaller differences came out in the wrong order in a third of repeated runs) and by more
/// than the noise: the whole interval of the ratio is above 1. Without a default the entries are ordered by
/// time. Entries that were not timed to the end are left out. If the default was not timed to the end, the
/// result is empty.
std::vector<std::size_t> ranking(const std::vector<ContestEntry>& entries, std::size_t sources,
                                 bool has_default);
/// Returns the verdict on entry `winner`, compared with the default and the libraries.
Verdict verdict_of(const std::vector<ContestEntry>& entries, std::size_t sources, bool has_default,
                   std::size_t winner);

/// Whether a candidate beats the default by single trials, for use when there was no contest. It must be
/// faster by at least 1 %, and the intervals must not touch. If both were timed next to the default as their
/// reference kernel and a second window confirmed the candidate, being faster in both windows is enough.
bool beats(const Timing& candidate, const Timing& default_timing);

}  // namespace lehr
