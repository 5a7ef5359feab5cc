#include "tune/finals.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"

namespace lehr {
namespace {

constexpr double kLeastGain = 0.01;
/// Seconds for waking the worker for a turn and for stopping it (1.6 ms on 2 CPUs of a Xeon at 2.8 GHz).
constexpr double kTurnOverheadS = 1.6e-3;
/// The contest's fraction of the wanted time. The rest is for proofs with many calls.
constexpr double kContestShare = 0.8;
/// Fraction of a contest's time in which the finalists run their first stages. The default, the libraries and
/// the last rounds get the rest.
constexpr double kStagesShare = 0.6;
/// Fraction of a proof's seconds that is spent on other inputs.
constexpr double kOtherShare = 0.25;
/// Seconds. A library with less time than this does not search at all.
constexpr double kLeastSearchS = 0.01;

/// Returns the seconds of a turn: one call to warm up, then a block of at least one call.
double turn_s(const FinalistCost& cost, const ContestOptions& contest) {
  return cost.call_s + std::max(cost.call_s, contest.block_us * 1e-6) + kTurnOverheadS;
}

double least_proof_s(const FinalistCost& cost) {
  return 2 * kLeastProofs * cost.check_s;
}

/// The costs of a contest, given the number of finalists and libraries.
class ContestCosts {
 public:
  ContestCosts(const FinalsCosts& costs, const ContestOptions& contest) : costs_(costs), contest_(contest) {}

  /// Returns the seconds for loading all kernels and for kLeastRounds rounds.
  double least_s(std::size_t finalists, int libraries, bool challengers) const {
    double seconds = costs_.the_default ? least_of(*costs_.the_default) : 0;
    for (std::size_t i = 0; i < finalists; ++i) seconds += least_of(costs_.finalists[i]);
    if (challengers) seconds += costs_.challengers * (costs_.challenger_s + least_of(typical()));
    return seconds + libraries * library_s();
  }
  /// Returns the seconds for starting a library, choosing an algorithm, and timing the library. A call of the
  /// library is assumed to take as long as a call of the fastest kernel.
  double library_s() const {
    constexpr int kChecks = 2;
    return costs_.library_s + kChecks * typical().check_s + 2 * kLeastRounds * turn_s(typical(), contest_);
  }
  /// Returns the seconds that a finalist takes for all rounds of the first stage and half of the second.
  double stages_s(std::size_t finalist) const {
    const FinalistCost& cost = costs_.finalists[finalist];
    return costs_.compile_s + cost.load_s + cost.check_s +
           1.5 * contest_.stage_rounds * turn_s(cost, contest_);
  }

 private:
  double least_of(const FinalistCost& cost) const {
    return costs_.compile_s + cost.load_s + cost.check_s + kLeastRounds * turn_s(cost, contest_);
  }

  /// Returns the cost that is assumed for a kernel whose own cost is not known.
  FinalistCost typical() const {
    return !costs_.finalists.empty() ? costs_.finalists[0] : costs_.the_default.value_or(FinalistCost());
  }

  const FinalsCosts& costs_;
  const ContestOptions& contest_;
};

/// Returns the number of finalists that have time for their stages. It is at least the number in the
/// contest's last stage.
std::size_t wanted_finalists(const FinalsCosts& costs, const ContestCosts& each, double seconds,
                             const ContestOptions& contest) {
  std::size_t count = 0;
  double spent_s = 0;
  while (count < costs.finalists.size()) {
    spent_s += each.stages_s(count);
    if (count >= contest.most_finalists && spent_s > seconds) break;
    ++count;
  }
  return count;
}

struct Proofs {
  double leader_s = 0, default_s = 0;
};

Proofs proofs_of(const FinalsCosts& costs) {
  Proofs proofs;
  if (costs.the_default) proofs.default_s = least_proof_s(*costs.the_default);
  if (costs.finalists.empty()) {
    proofs.default_s += costs.inputs.both_s();
    return proofs;
  }
  // The contest may show that the second finalist is the fastest.
  for (std::size_t i = 0; i < std::min<std::size_t>(2, costs.finalists.size()); ++i)
    proofs.leader_s = std::max(proofs.leader_s, least_proof_s(costs.finalists[i]));
  proofs.leader_s += costs.inputs.both_s();
  return proofs;
}

}  // namespace

std::vector<std::size_t> pick_finalists(const Trials& trials, const std::optional<Point>& the_default,
                                        std::size_t count) {
  std::vector<std::size_t> order;
  std::unordered_set<std::uint64_t> sources;
  for (std::size_t i = 0; i < trials.all().size(); ++i) {
    const KnownTrial& trial = trials.all()[i];
    if (the_default && trial.point == *the_default) {
      if (trial.source_hash != 0) sources.insert(trial.source_hash);
    } else if (trial.time_us()) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return *trials.all()[i].time_us(); });
  std::vector<std::size_t> finalists;
  for (const std::size_t i : order) {
    if (finalists.size() == count) break;
    const std::uint64_t hash = trials.all()[i].source_hash;
    if (hash == 0 || sources.insert(hash).second) finalists.push_back(i);
  }
  return finalists;
}

double least_finals_s(const FinalsCosts& costs, const ContestOptions& contest) {
  const Proofs proofs = proofs_of(costs);
  return proofs.leader_s + proofs.default_s +
         ContestCosts(costs, contest).least_s(std::min<std::size_t>(2, costs.finalists.size()), 0, false);
}

std::optional<FinalsPlan> plan_finals(const FinalsCosts& costs, TimeLeft left,
                                      const ContestOptions& contest) {
  const ContestCosts each(costs, contest);
  const std::size_t all = costs.finalists.size(), one = std::min<std::size_t>(1, all);
  if (all == 0 && !costs.the_default) return std::nullopt;
  const double most_s = std::max(left.most_s, left.wanted_s);
  const Proofs proofs = proofs_of(costs);
  double kept_s = proofs.leader_s + proofs.default_s;
  const double least_s = each.least_s(one, 0, false);
  const bool scarce = most_s < kept_s + least_s;
  if (scarce) kept_s = most_s < proofs.leader_s + least_s ? 0 : proofs.leader_s;
  const double contest_s = most_s - kept_s;
  if (contest_s < least_s) return std::nullopt;
  FinalsPlan plan;
  const double wanted_s = std::min({contest_s, kContestShare * left.wanted_s, left.wanted_s - kept_s});
  plan.finalists = scarce ? one : wanted_finalists(costs, each, kStagesShare * wanted_s, contest);
  if (left.most_s >= kNoLimitS) plan.finalists = all;
  int libraries = scarce ? 0 : costs.libraries;
  const auto fits = [&] { return each.least_s(plan.finalists, libraries, plan.challengers) <= contest_s; };
  while (plan.finalists > 2 && !fits()) --plan.finalists;
  while (libraries > 0 && !fits()) --libraries;
  plan.challengers = !scarce && fits();
  if (plan.finalists > one && !fits()) plan.finalists = one;
  const double least_now_s = each.least_s(plan.finalists, libraries, plan.challengers);
  plan.contest.wanted_s = scarce ? least_s : std::max(wanted_s, std::min(contest_s, least_now_s));
  if (left.most_s >= kNoLimitS) return plan;
  plan.contest.most_s = contest_s;
  plan.contest.last_s = most_s;
  // The remaining time goes to the rounds. A library that has begun is not interrupted.
  plan.contest.libraries_s =
      libraries > 0 ? contest_s - each.least_s(plan.finalists, 0, plan.challengers) : 0;
  if (libraries > 0) plan.search_s = std::max(kLeastSearchS, (contest_s - least_now_s) / 2 / libraries);
  return plan;
}

std::string_view name_of(ProofState proof) {
  switch (proof) {
    case ProofState::kNone:
      return "none";
    case ProofState::kHalf:
      return "half";
    case ProofState::kProven:
      return "proven";
    case ProofState::kFailed:
      return "failed";
  }
  return "";
}

const Contender* leader_of(std::span<const Contender> contenders) {
  const auto leader = std::ranges::find_if(
      contenders, [](const Contender& contender) { return contender.proof != ProofState::kFailed; });
  return leader == contenders.end() ? nullptr : &*leader;
}

std::optional<ProofStep> next_proof(std::span<const Contender> contenders, Inputs in_place, SwapCosts swaps,
                                    TimeLeft left) {
  const Contender* const leader = leader_of(contenders);
  if (leader == nullptr) return std::nullopt;
  const bool other = in_place == Inputs::kOther;
  const double back_s = swaps.prepared_s, there_s = other ? 0 : swaps.other_s;
  double begun_s = 0;  // seconds for proving half-proven contenders on their own inputs
  double due_s = 0;    // least seconds that the leader and the default still need
  double share = 0;    // sum of the fractions of the rest that the unfinished proofs get
  for (const Contender& each : contenders) {
    if (each.proof == ProofState::kHalf) begun_s += kLeastProofs * each.check_s;
    if (&each != leader && !each.is_default) continue;
    if (each.proof == ProofState::kNone) share += kOtherShare;
    if (each.proof == ProofState::kNone) due_s += kLeastProofs * each.check_s;
    if (each.proof != ProofState::kProven) share += 1 - kOtherShare;
    if (each.proof != ProofState::kProven) due_s += kLeastProofs * each.check_s;
  }
  if (leader->proof == ProofState::kNone) due_s += there_s;
  if (other || leader->proof == ProofState::kNone) due_s += back_s;
  const double spare_s = std::max(0.0, left.wanted_s - due_s);
  const auto step = [&](const Contender& contender, Inputs inputs) {
    const double own = inputs == Inputs::kOther ? kOtherShare : 1 - kOtherShare;
    return ProofStep{static_cast<std::size_t>(&contender - contenders.data()), inputs,
                     kLeastProofs * contender.check_s + spare_s * own / std::max(own, share)};
  };
  const auto own_inputs = [&]() -> std::optional<ProofStep> {
    for (const Contender& each : contenders) {
      if (each.proof != ProofState::kHalf || (&each != leader && !each.is_default)) continue;
      if ((other ? back_s : 0) + kLeastProofs * each.check_s <= left.most_s)
        return step(each, Inputs::kPrepared);
    }
    return std::nullopt;
  };
  if (other || leader->proof == ProofState::kNone) {
    const auto fits = [&](const Contender& each, double seconds) {
      return each.proof == ProofState::kNone &&
             there_s + back_s + 2 * kLeastProofs * each.check_s + begun_s <= seconds;
    };
    // If the leader cannot be proven in time, no other contender can win in its place.
    if (leader->proof == ProofState::kNone && !fits(*leader, left.most_s)) return own_inputs();
    if (leader->proof == ProofState::kNone) return step(*leader, Inputs::kOther);
    for (const Contender& each : contenders)
      if (each.is_default && fits(each, left.most_s)) return step(each, Inputs::kOther);
    for (const Contender& each : contenders)
      if (fits(each, left.wanted_s)) return step(each, Inputs::kOther);
  }
  return own_inputs();
}

std::vector<std::size_t> ranking(const std::vector<ContestEntry>& entries, std::size_t sources,
                                 bool has_default) {
  CHECK(sources > 0 && sources <= entries.size(), "sources={} entries={}", sources, entries.size());
  const auto timed = [&](std::size_t i) { return entries[i].finished && !entries[i].round_us.empty(); };
  if (has_default && !timed(0)) return {};
  const auto lead = [&](std::size_t i) {
    if (!has_default || i == 0) return 0.0;
    const Ratio ratio = speedup_over(entries[i], entries[0]);
    return ratio.value < 1 + kLeastGain || ratio.interval.low <= 1 ? 0.0 : ratio.value;
  };
  struct Place {
    double lead, us;
    std::size_t entry;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < sources; ++i)
    if (timed(i)) places.push_back({lead(i), entries[i].time_us, i});
  std::ranges::sort(places, [&](const Place& a, const Place& b) {
    if (a.lead != b.lead) return a.lead > b.lead;
    if (has_default && (a.entry == 0) != (b.entry == 0)) return a.entry == 0;
    return a.us < b.us;
  });
  std::vector<std::size_t> order;
  for (const Place& place : places) order.push_back(place.entry);
  return order;
}

Verdict verdict_of(const std::vector<ContestEntry>& entries, std::size_t sources, bool has_default,
                   std::size_t winner) {
  Verdict verdict;
  verdict.best = time_of(entries[winner]);
  if (has_default) {
    verdict.default_time = time_of(entries[0]);
    verdict.speedup_vs_default = {1, {1, 1}};
    if (winner != 0) verdict.speedup_vs_default = speedup_over(entries[winner], entries[0]);
  }
  for (const ContestEntry& entry : std::span(entries).subspan(sources)) {
    if (entry.round_us.empty() || (verdict.baseline_us > 0 && entry.time_us >= verdict.baseline_us)) continue;
    verdict.baseline = entry.name;
    verdict.baseline_us = entry.time_us;
    verdict.speedup_vs_baseline = speedup_over(entries[winner], entry);
    const AlgorithmCount algorithms = entry.finding ? algorithms_of(*entry.finding) : AlgorithmCount();
    verdict.algorithms_tried = algorithms.tried;
    verdict.algorithms = algorithms.offered;
  }
  return verdict;
}

bool beats(const Timing& candidate, const Timing& default_timing) {
  if (candidate.time_us <= 0 || default_timing.time_us < candidate.time_us * (1 + kLeastGain)) return false;
  // The reference was timed before, between and after its two windows.
  if (candidate.confirmed && candidate.reference_us > 0) return true;
  return interval_of(candidate).high < interval_of(default_timing).low;
}

}  // namespace lehr
