// How long and how often the participants of a contest take turns.
#pragma once

#include <cstddef>

#include "measure/core/time_left.h"

namespace lehr {

/// Minimum number of rounds for a contest to have a result.
inline constexpr int kLeastRounds = 3;

/// The defaults suit a device whose clock follows the load within milliseconds: turns are long.
struct ContestOptions {
  double budget_s = 2;
  double block_us = 20000;  ///< length of a participant's turn; at least one call
  double calm_within = 0;   ///< ContestEntry::calm_within
  int min_rounds = 9;       ///< done within at most twice the budget; after that kLeastRounds are enough
  int max_rounds = 200;
  /// Rounds of a stage, after which the slower half of the contenders drops out.
  int stage_rounds = 5;
  /// A stage also ends after two rounds that took this fraction of the budget.
  double stage_share = 0.25;
  std::size_t most_finalists = 4;  ///< stages go on until this number of contenders is left
  double timeout_s = 10;           ///< limit of one request
  double most_s = kNoLimitS;       ///< no round begins that is expected to end after this time
  double last_s = kNoLimitS;       ///< the same limit for the first kLeastRounds rounds
};

}  // namespace lehr
