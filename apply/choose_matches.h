// Chooses the matches with whose kernels a network is fastest.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apply/branches.h"
#include "apply/engine_trial.h"
#include "apply/rewrite.h"

namespace lehr {

/// The matches that are replaced.
struct MatchChoice {
  std::vector<Replacement> replacements;  ///< empty: no kernel pays
  EngineVerdict verdict = {};
  /// Time of the network without its matches that save products; 0: it has none.
  double without_saving_us = 0;
};

/// Gets a line for each step that takes long.
using Tell = std::function<void(const std::string&)>;

/// Returns a kernel for each match. With them all matches, and the casts and transposes between them, are
/// expected to take least time.
std::vector<Replacement> expected_fastest(const Network& network, const std::vector<MatchKernels>& matches);

/// Returns the matches, in the order of the graph, with which the whole network is fastest, each with its
/// best kernel.
/// The search starts from the first kernel of each match or from expected_fastest(), whichever is faster.
/// Then it removes runs of neighbouring matches, or gives them their other kernel, if that makes the network
/// faster by 1 % or more: an engine adds reorders of its own around nodes that it does not compute. It times
/// for at most `seconds`.
/// If outputs differ, row expressions are left to the engine, and the others are tried again. Only the last
/// comparison and the reported times are of networks in their final form, with branches. `folder` has the
/// plug-in and the kernels, and networks are written there.
MatchChoice choose_matches(const Network& network, std::vector<MatchKernels> matches, const NetworkForm& form,
                           const std::string& folder, const EngineCheck& check, double seconds,
                           const Tell& tell);

}  // namespace lehr
