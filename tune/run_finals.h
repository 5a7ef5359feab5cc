// Runs the contest and the proofs that finals.h decides on.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tune/finals.h"

namespace lehr {

/// The participants of a contest.
struct FinalsSides {
  /// Sources measured successfully before; the default comes first, if there is one.
  std::vector<Source> sources;
  std::vector<double> check_s;  ///< FinalistCost::check_s of each source
  bool has_default = true;
  std::vector<Challenger> challengers;
  std::vector<std::string> libraries;
};

/// The clock of a session. It is read before each step.
struct FinalsClock {
  std::function<double()> elapsed_s;
  std::function<TimeLeft()> left;
  std::function<bool()> interrupted;
};

struct FinalsResult {
  /// Entries of the sources, then of the challengers, then of the libraries.
  std::vector<ContestEntry> entries;
  /// In the order of next_proof(). Empty: the contest decided nothing.
  std::vector<Contender> contenders;
  std::vector<double> proof_s;  ///< wall seconds of each source's proof
};

/// Runs the contest and the proofs. A source that a proof finds wrong loses its times, and its entry says
/// why. If the device checks results, a source whose proof is complete counts as checked by "device and
/// host". Nothing begins once `interrupted` returns true.
FinalsResult run_finals(Measurer& measurer, const FinalsSides& sides, const FinalsPlan& plan,
                        const FinalsClock& clock);

}  // namespace lehr
