// Figures of several searches on one table: fractions of the optimum, number of trials to reach a level, and
// a score over time.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "replay/random_baseline.h"

namespace lehr {

inline constexpr std::array<std::size_t, 5> kFractionTrials = {16, 32, 64, 128, 256};
inline constexpr std::array<double, 3> kLevels = {0.90, 0.95, 0.99};

/// Statistics over seeds. A fraction is (optimum / best time so far), in [0, 1]; 0 while nothing has a time.
struct Spread {
  double median = 0;
  double p10 = 0;  ///< 10th percentile: one seed in ten is worse than this
};

/// Figures of several searches of equal length on one table.
struct Figures {
  /// nullopt: no search has this many trials.
  std::array<std::optional<Spread>, kFractionTrials.size()> fraction;
  /// Median, over the seeds, of the first trial that reaches the level; nullopt: most searches did not reach
  /// it.
  std::array<std::optional<double>, kLevels.size()> trials_to;
  /// Mean, over trials 1 to the budget, of (expected best of random search - mean best of the searches) /
  /// (expected best of random search - optimum). 0 is as good as random search, 1 is the optimum from the
  /// first trial on, and below 0 is worse than random search (Schoonhoven et al. and the autotuning
  /// methodology of FGCS 2024, doi 10.1016/j.future.2024.05.021, with trials instead of time). The budget is
  /// the number of trials after which random search is expected to have come 95 % of the way from the median
  /// to the optimum, or the length of the searches if that is less.
  double score = 0;
};

/// Returns the first trial, counted from 1, after which the search's best time is at most `level_us`;
/// nullopt: there is no such trial.
std::optional<std::size_t> trials_to(const std::vector<double>& search, double level_us);

/// Returns the figures of `searches`. There is at least one search, and each is a result of replay(): the
/// fastest time after each trial.
Figures figures_of(const std::vector<std::vector<double>>& searches, const RandomBaseline& random);
/// Returns the exact figures of random searches with `trials` trials. Their score is 0.
Figures figures_of_random(const RandomBaseline& random, std::size_t trials);

/// Returns the value at the fraction `share` of the sorted values, by linear interpolation. CHECKs that there
/// is a value.
double percentile(std::vector<double> values, double share);

}  // namespace lehr
