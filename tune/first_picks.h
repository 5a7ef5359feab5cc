// What a session measures that knows nothing yet: the defaults, and what the analytic prior picks before
// there is a model.
#pragma once

#include <cstdint>
#include <vector>

#include "base/limits.h"
#include "tune/task.h"

namespace lehr {

struct FirstPick {
  Config config;
  int batch = 0;        ///< 0: the defaults
  double prior_us = 0;  ///< the prior's estimate
};

/// Everything up to the first fit of the model, in the order of measurement, of a session that anneals with
/// this seed, without rows of earlier ones and without a limit that it reaches before. The defaults and the
/// first batch are that session's own as long as the defaults run (and, where they are several, their
/// estimates order them as their times will). Later batches depend on what is measured: here the estimates
/// stand for the times. Deterministic; `threads` lower and score.
std::vector<FirstPick> first_picks(const Candidates& candidates, const Limits& limits, std::uint64_t seed,
                                   int threads);

}  // namespace lehr
