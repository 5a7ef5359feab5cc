// Which other tasks are worth listening to, by their own rows alone: before anything is measured.
#pragma once

#include <string>
#include <vector>

#include "tune/transfer.h"

namespace lehr {

struct TrustedTasks {
  std::vector<PastTask> tasks;
  std::vector<std::string> left_out;  ///< names of the others
};

/// The tasks whose times follow from their configs. The rows of all tasks are dealt to two halves, a model of
/// each half ranks the other, and a task is trusted if Spearman's correlation with its own times is at least
/// kLeastHeldOutRank there. The fewer rows it has, the more the other tasks' correlations count beside its
/// own: as much as kPooledRows rows would. Times that were dealt out at random, or that noise made, fail;
/// times that hold for another device only do not. Two fits.
TrustedTasks trusted_tasks(std::vector<PastTask> tasks, const XgboostOptions& options);

/// Rows that a tuner picked are alike, and rank worse than a sample of a space does. Logs of tunings: 0.4 to
/// 0.9, random samples of our spaces: 0.7 to 0.95, random times: 0 +- 1 / sqrt(rows).
inline constexpr double kLeastHeldOutRank = 0.2;
inline constexpr double kPooledRows = 32;

}  // namespace lehr
