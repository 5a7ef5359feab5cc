// How long and how often the participants of a contest take turns.
#pragma once

#include <cstddef>

#include "measure/core/time_left.h"

namespace lehr {

/// Least rounds for a contest to say anything.
inline constexpr int kLeastRounds = 3;

/// The defaults are for a device whose clock follows the load within milliseconds: turns are long.
struct ContestOptions {
  double budget_s = 2;
  double block_us = 20000;  ///< length of a participant's turn; at least one call
  double calm_within = 0;   ///< ContestEntry::calm_within
  int min_rounds = 9;       ///< within at most twice the budget; after that kLeastRounds are enough
  int max_rounds = 200;
  int stage_rounds = 5;            ///< rounds after which the slower half of the contenders drops out ...
  double stage_share = 0.25;       ///< ... or two rounds and this share of the budget, ...
  std::size_t most_finalists = 4;  ///< ... until this many are left
  double timeout_s = 10;           ///< of one request
  double most_s = kNoLimitS;       ///< no round begins that is expected to end later ...
  double last_s = kNoLimitS;       ///< ... but the first kLeastRounds have this limit
};

}  // namespace lehr
