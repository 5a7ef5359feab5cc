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

/// Returns the timed rows of `log` that are not answers to `task` (they have another workload, device
/// identity, template version or kernel: tune/stored_kernel.h), grouped by task, the nearest first. Returns
/// at most kMostTasks tasks and `most_rows` rows in all, fast and recent ones. A task has at most
/// kMostTaskRows, and leaves as many for three others. Nearest is the same workload elsewhere, then other
/// workloads by distance() (workload/workload.h).
/// Rows of the task's own workload get `own_rows` (of `columns` values). Rows of other workloads are lowered
/// with the templates of today. They are left out if that fails, or if `kernels` is false: then feature rows
/// are not made from kernels. A task without a workload is near to no other.
/// Only the rows of these tasks are read from the log, and those of some more if nearer tasks have no useful
/// row.
std::vector<PastTask> past_tasks(const Database& log, const Task& task, const Candidates& candidates,
                                 const RowOf& own_rows, std::size_t columns, bool kernels,
                                 std::size_t most_rows = kMostTasks * kMostTaskRows);

/// Returns how many rows are worth reading for a search with these limits (0: no limit): learning from them
/// takes a twelfth of it. It depends on the limits and not on a clock, so that the same seed gets the same
/// hints.
std::size_t hint_rows(int trials, double time_s);

}  // namespace lehr
