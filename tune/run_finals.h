// Runs the contest and the proofs as finals.h decides them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tune/finals.h"

namespace lehr {

/// The participants of a contest.
struct FinalsSides {
  std::vector<Source> sources;  ///< already measured with success; the default comes first, if there is one
  std::vector<double> check_s;  ///< FinalistCost of each
  bool has_default = true;
  std::vector<Challenger> challengers;
  std::vector<std::string> libraries;
};

/// The clock of a session, which is read before each step.
struct FinalsClock {
  std::function<double()> elapsed_s;
  std::function<TimeLeft()> left;
  std::function<bool()> interrupted;
};

struct FinalsResult {
  std::vector<ContestEntry> entries;  ///< sources, challengers, libraries
  /// In the order of next_proof(). Empty: the contest decided nothing.
  std::vector<Contender> contenders;
  std::vector<double> proof_s;  ///< wall seconds of each source's proof
};

/// Runs the contest and the proofs. A source that a proof finds wrong loses its times, and its entry says
/// why. If the device checks, a source whose proof is complete was checked by "device and host". Nothing
/// begins after `interrupted`.
FinalsResult run_finals(Measurer& measurer, const FinalsSides& sides, const FinalsPlan& plan,
                        const FinalsClock& clock);

}  // namespace lehr
