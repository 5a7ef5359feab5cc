// How long and how often the participants of a contest take turns.
#pragma once

#include <cstddef>

#include "measure/core/time_left.h"

namespace lehr {

/// Minimum number of rounds for a contest to have a result.
inline constexpr int kLeastRounds = 3;

/// The defaults suit a device whose clock frequency adapts to the load within milliseconds, and therefore
/// needs long turns.
struct ContestOptions {
  double budget_s = 2;
  double block_us = 20000;  ///< length of a participant's turn; at least one call
  double calm_within = 0;   ///< ContestEntry::calm_within
  int min_rounds = 9;       ///< minimum number of rounds; after twice the budget kLeastRounds are enough
  int max_rounds = 200;
  /// Number of rounds of a stage. At the end of a stage the slower half of the contenders drops out.
  int stage_rounds = 5;
  /// A stage ends earlier if at least two rounds are done and the stage has taken this fraction of the
  /// budget.
  double stage_share = 0.25;
  std::size_t most_finalists = 4;  ///< stages go on until this number of contenders is left
  double timeout_s = 10;           ///< limit of one request
  double most_s = kNoLimitS;       ///< no round begins that is expected to end after this time
  double last_s = kNoLimitS;       ///< the same limit for the first kLeastRounds rounds
};

}  // namespace lehr
