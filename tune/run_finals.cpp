#include "tune/run_finals.h"

#include <optional>
#include <utility>

#include "base/error.h"

namespace lehr {
namespace {

/// Stores the result of a proof step.
void take(std::optional<Failure> failure, Inputs inputs, Contender& contender, ContestEntry& entry) {
  if (!failure) {
    contender.proof = inputs == Inputs::kOther ? ProofState::kHalf : ProofState::kProven;
    if (contender.proof == ProofState::kProven && entry.checked_by == "device")
      entry.checked_by = "device and host";
    return;
  }
  contender.proof = ProofState::kFailed;
  entry.missing = fmt::format("{}: {}", name_of(failure->kind), failure->text);
  entry.failure = std::move(failure);
  entry.finished = false;
  entry.round_us.clear();
  entry.time_us = 0;
}

}  // namespace

FinalsResult run_finals(Measurer& measurer, const FinalsSides& sides, const FinalsPlan& plan,
                        const FinalsClock& clock) {
  FinalsResult result;
  result.entries = measurer.contest(sides.sources, sides.challengers, sides.libraries, plan.contest);
  CHECK(result.entries.size() >= sides.sources.size(), "{} entries for {} sources", result.entries.size(),
        sides.sources.size());
  result.proof_s.assign(sides.sources.size(), 0);
  for (const std::size_t entry : ranking(result.entries, sides.sources.size(), sides.has_default))
    result.contenders.push_back({entry, sides.check_s[entry], sides.has_default && entry == 0});
  Inputs in_place = Inputs::kPrepared;
  while (!clock.interrupted()) {
    const auto step = next_proof(result.contenders, in_place, measurer.swaps(), clock.left());
    if (!step) break;
    Contender& contender = result.contenders[step->contender];
    const double begin_s = clock.elapsed_s();
    auto failure = measurer.prove(contender.entry, step->inputs, step->seconds);
    result.proof_s[contender.entry] += clock.elapsed_s() - begin_s;
    in_place = step->inputs;
    if (clock.interrupted() && failure && failure->kind == FailureKind::kInterrupted) break;
    take(std::move(failure), step->inputs, contender, result.entries[contender.entry]);
  }
  return result;
}

}  // namespace lehr
