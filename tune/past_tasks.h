// The other tasks of a log that a new task can learn from.
#pragma once

#include <string>
#include <vector>

#include "database/database.h"
#include "tune/scorer.h"
#include "tune/task.h"
#include "tune/transfer.h"

namespace lehr {

inline constexpr std::size_t kMostTasks = 8;
inline constexpr std::size_t kMostTaskRows = 128;

/// One workload on one device in a log.
struct TaskInLog {
  RecordFilter where;
  Workload workload;
};
/// Returns the tasks that `filter` selects, in the log's order. A workload of a newer version is skipped.
std::vector<TaskInLog> tasks_in_log(const Database& log, const RecordFilter& filter);

/// Returns the timed rows of `log` that may serve as hints for `task`, grouped by their task, the nearest
/// task first. These are the rows that are not answers to `task`: they differ in workload, device identity,
/// template version or kernel (tune/stored_kernel.h). Nearest is the same workload elsewhere, then come other
/// workloads by distance() (workload/workload.h). A task without a workload is near to no other.
/// Returns at most kMostTasks tasks and `most_rows` rows in all, preferring fast and recent rows. One task
/// gets at most kMostTaskRows rows, and leaves as many rows for three other tasks.
/// Feature rows of the task's own workload are made by `own_rows` and have `columns` values. For other
/// workloads the templates of this version lower the configs again. Rows that cannot be lowered are left out.
/// If `kernels` is false, feature rows are not made from kernels, and rows of other workloads are left out.
/// Reads only the rows of these tasks from the log, and the rows of some more tasks if nearer tasks have no
/// useful row.
std::vector<PastTask> past_tasks(const Database& log, const Task& task, const Candidates& candidates,
                                 const RowOf& own_rows, std::size_t columns, bool kernels,
                                 std::size_t most_rows = kMostTasks * kMostTaskRows);

/// Returns how many rows are worth reading for a search with these limits (0: no limit). Learning from them
/// takes a twelfth of the search. The number depends on the limits and not on a clock, so that the same seed
/// gets the same hints.
std::size_t hint_rows(int trials, double time_s);

}  // namespace lehr
