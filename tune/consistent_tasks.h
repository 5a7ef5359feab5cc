// Which other tasks have times that follow from their configs, by their own rows alone: before anything is
// measured.
#pragma once

#include <string>
#include <vector>

#include "tune/transfer.h"

namespace lehr {

struct ConsistentTasks {
  std::vector<PastTask> tasks;
  std::vector<std::string> left_out;  ///< names of the others
};

/// The tasks whose times follow from their configs. The rows of all tasks are dealt to two halves, a model of
/// each half ranks the other, and a task is consistent if Spearman's correlation with its own times is at
/// least kLeastHeldOutRank there. The fewer rows it has, the more the other tasks' correlations count beside
/// its own: as much as kPooledRows rows would. Where all tasks together have fewer than that, nothing can be
/// said against them, and all are taken. Times that were dealt out at random, or that noise made, fail; times
/// that hold for another device only do not. Two fits.
ConsistentTasks consistent_tasks(std::vector<PastTask> tasks, std::uint64_t seed);

/// Logs of tunings show 0.42 to 0.95, random samples of our spaces 0.58 to 0.90, random times -0.14 to 0.14
/// with 250 rows (bench/results/own_tables/table.md).
inline constexpr double kLeastHeldOutRank = 0.2;
inline constexpr double kPooledRows = 32;

}  // namespace lehr
