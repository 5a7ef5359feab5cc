// The contest and the proofs, as finals.h decides them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tune/finals.h"

namespace lehr {

/// The sides of a contest.
struct FinalsSides {
  std::vector<Source> sources;  ///< already measured with success; the default first, if there is one
  std::vector<double> check_s;  ///< FinalistCost of each
  bool has_default = true;
  std::vector<Challenger> challengers;
  std::vector<std::string> libraries;
};

/// The clock of a session, which is asked before each step.
struct FinalsClock {
  std::function<double()> elapsed_s;
  std::function<TimeLeft()> left;
  std::function<bool()> interrupted;
};

struct FinalsResult {
  std::vector<ContestEntry> entries;  ///< sources, challengers, libraries
  /// The order of next_proof(). Empty: the contest decided nothing.
  std::vector<Contender> contenders;
  std::vector<double> proof_s;  ///< wall time, of each source
};

/// Runs them. A source that a proof finds wrong loses its times, and its entry says why; one whose proof is
/// complete was checked by "device and host" where the device checks. Nothing is begun after `interrupted`.
FinalsResult run_finals(Measurer& measurer, const FinalsSides& sides, const FinalsPlan& plan,
                        const FinalsClock& clock);

}  // namespace lehr
