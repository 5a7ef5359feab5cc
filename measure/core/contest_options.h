// How long and how often the sides of a contest take turns.
#pragma once

#include <cstddef>

#include "measure/core/time_left.h"

namespace lehr {

/// Of fewer rounds a contest says nothing.
inline constexpr int kLeastRounds = 3;

/// The defaults suit a device whose clock follows the load within milliseconds, so that turns are long.
struct ContestOptions {
  double budget_s = 2;
  double block_us = 20000;  ///< how long one participant's turn lasts (one call at least)
  double calm_within = 0;   ///< ContestEntry::calm_within
  int min_rounds = 9;       ///< within at most twice the budget; then kLeastRounds must do
  int max_rounds = 200;
  int stage_rounds = 5;            ///< after so many rounds the slower half of the contenders drops out ...
  double stage_share = 0.25;       ///< ... or after two of them and this share of the budget, ...
  std::size_t most_finalists = 4;  ///< ... until so many are left
  double timeout_s = 10;           ///< for one request
  double most_s = kNoLimitS;       ///< no round begins that is expected to end behind it, ...
  double last_s = kNoLimitS;       ///< ... the first kLeastRounds: behind this
};

}  // namespace lehr
