// Chooses which matches kernels compute, so that the network is fastest.
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
  /// Time of the network if kernels that save multiplications (Winograd's) are not used. 0: no such kernel is
  /// chosen.
  double without_saving_us = 0;
};

/// Receives a line of text about each step that takes long.
using Tell = std::function<void(const std::string&)>;

/// Returns a kernel for each match, so that the expected time of all kernels, and of the casts and transposes
/// between them, is least. Nothing is timed.
std::vector<Replacement> expected_fastest(const Network& network, const std::vector<MatchKernels>& matches);

/// Returns the matches to replace, in the order of the graph, each with its best kernel. The engine times
/// whole networks to find out with which matches the network is fastest. The search starts from the first
/// kernel of each match or from expected_fastest(), whichever is faster. Then it removes groups of
/// neighbouring matches, or gives each match of a group its next kernel, if that makes the network faster by
/// 1 % or more. Removing can pay, since an engine adds reorders of its own around nodes that it does not
/// compute. The search times for at most `seconds`. If outputs differ, row expressions are left to the
/// engine, and the other matches are tried again. The search tries networks without branches. Only the last
/// comparison, which gives the reported times, uses the final form with branches. `folder` holds the plug-in
/// and the kernels. The networks to try are written there.
MatchChoice choose_matches(const Network& network, std::vector<MatchKernels> matches, const NetworkForm& form,
                           const std::string& folder, const EngineCheck& check, double seconds,
                           const Tell& tell);

}  // namespace lehr
