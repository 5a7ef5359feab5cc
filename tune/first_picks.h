// What a session measures that knows nothing yet: the defaults, and what the analytic prior picks before
// there is a model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tune/task.h"

namespace lehr {

struct FirstPick {
  Config config;
  /// "default"; "prior": the best by its estimate; "far": from what was measured before.
  std::string picked_as;
  double prior_us = 0;  ///< the prior's estimate
};

/// Everything up to the first fit of the models, in the order of measurement, of a session that anneals with
/// this seed, without rows of earlier ones, without a limit that it reaches before, and whose configs all
/// run. No time has a say in it. Deterministic; `threads` lower and score.
std::vector<FirstPick> first_picks(const Candidates& candidates, const Limits& limits, std::uint64_t seed,
                                   int threads);

}  // namespace lehr
