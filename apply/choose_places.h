// With which of the places that kernels can compute a network is fastest.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apply/branches.h"
#include "apply/engine_trial.h"
#include "apply/rewrite.h"

namespace lehr {

/// Which places stay replaced.
struct PlaceChoice {
  std::vector<Replacement> replacements;  ///< empty: nothing pays
  EngineVerdict verdict = {};
  double without_saving_us = 0;  ///< of the network without its places that save products; 0: it has none
};

/// Gets a line for each step that takes long.
using Tell = std::function<void(const std::string&)>;

/// Returns of each place the kernel with which all of them, and the casts and transposes between them, are
/// expected to take the shortest.
std::vector<Replacement> expected_fastest(const Network& network, const std::vector<PlaceKernels>& places);

/// Of the places, in the order of the graph, those with which the whole network is fastest, each with the
/// kernel that is best there: the first of each kernel or expected_fastest(), whichever is faster; then runs
/// of neighbouring places are taken out, or are given their other kernel, where that makes it faster by 1 %
/// or more, in at most `seconds` of timing, since an engine puts reorders of its own around what it does not
/// compute. Where outputs differ, row expressions are left to the engine, and the others are tried again.
/// Only the last comparison and the times are those of networks in their form, with branches. `folder` has
/// the plug-in and the kernels, and gets networks written beside them.
PlaceChoice choose_places(const Network& network, std::vector<PlaceKernels> places, const NetworkForm& form,
                          const std::string& folder, const EngineCheck& check, double seconds,
                          const Tell& tell);

}  // namespace lehr
