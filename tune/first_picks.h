// The first measurements of a session whose log is empty: the defaults, and the picks of the analytic prior
// before there is a model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tune/task.h"

namespace lehr {

struct FirstPick {
  Config config;
  /// How it was picked. "default"; "prior": the best by the prior's estimate; "far": far from all measured
  /// configs.
  std::string picked_as;
  double prior_us = 0;  ///< the prior's estimate
};

/// Returns all picks up to the first fit of the models, in the order of measurement. A session makes these
/// picks if it anneals with this seed, reuses no rows of earlier sessions, reaches no limit before the fit,
/// and all its configs run. The picks do not depend on any time. Deterministic; lowers and scores on
/// `threads` threads.
std::vector<FirstPick> first_picks(const Candidates& candidates, const Limits& limits, std::uint64_t seed,
                                   int threads);

}  // namespace lehr
