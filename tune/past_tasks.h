// What a log knows of other tasks, as the new task can learn from it.
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

/// What a log has of one workload on one device.
struct TaskInLog {
  RecordFilter where;
  Workload workload;
};
/// Those that `filter` leaves, in the log's order; workloads of a newer version are no hint.
std::vector<TaskInLog> tasks_in_log(const Database& log, const RecordFilter& filter);

/// The timed rows of `log` that are no answers to `task` (of another workload, device identity,
/// template version or kernel: tune/stored_kernel.h), as tasks, the nearest first, at most kMostTasks of them
/// and `most_rows` rows in all, fast and recent ones: of each kMostTaskRows, and no more than leaves as many
/// for three others. Near is: the same workload elsewhere, then what is at a small distance()
/// (workload/workload.h). Rows of the task's own workload get `own_rows` (of `columns` values); those of
/// other workloads are lowered with the templates of today, and left out where that fails, or if `kernels` is
/// false, because then rows are no kernels' features. A task without a workload is near to nothing. Only
/// the rows of these tasks are read from the log, and of some more where nearer ones have no row that is of
/// use.
std::vector<PastTask> past_tasks(const Database& log, const Task& task, const Candidates& candidates,
                                 const RowOf& own_rows, std::size_t columns, bool kernels,
                                 std::size_t most_rows = kMostTasks * kMostTaskRows);

/// So many rows are worth reading for a search of so many trials or seconds (0: no limit): learning from them
/// takes a twelfth of it. By what was asked for and not by a clock, so that the same seed has the same hints.
std::size_t hint_rows(int trials, double time_s);

}  // namespace lehr
