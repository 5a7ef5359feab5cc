// Grouping, distance and features: see past_tasks.h.
#include "tune/past_tasks.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

struct Group : TaskInLog {
  double distance = 0;
};

/// Groups rows by task, the nearest first; equal distances stay in the log's order.
std::vector<Group> groups_of(const Database& log, const Task& task, bool kernels) {
  const std::string identity = identity_of(task.device), own_text = task.problem.text;
  std::vector<Group> groups;
  if (!task.workload) return groups;
  for (TaskInLog& each : tasks_in_log(log, {.workload = kernels ? "" : own_text,
                                            .target = std::string(name_of(task.device.limits.target))})) {
    const bool elsewhere = each.where.device != identity;
    const double away = distance(*task.workload, each.workload) + (elsewhere ? 1 : 0);
    groups.push_back({std::move(each), away});
  }
  std::ranges::stable_sort(groups, {}, &Group::distance);
  return groups;
}

/// Maximum number of tasks whose rows are read. Rows of some tasks are of no use: they belong to older
/// families, or no family serves the task on this device.
constexpr int kMostTried = 3 * static_cast<int>(kMostTasks);

/// Seconds for reading, lowering and learning from a row: 0.002 to 0.004 for 25 to 1024 rows on two busy
/// cores of an EPYC (Zen 4), 2026-11-28.
constexpr double kSecondsPerRow = 0.004;
constexpr double kShare = 1.0 / 12;
/// Seconds of a usual trial, compilation included.
constexpr double kSecondsPerTrial = 0.3;
/// Minimum number of rows of one task. Fewer rows say little.
constexpr std::size_t kLeastTaskRows = 16;

// Keeps the fastest half, and the newest of the others.
void cut(std::vector<Record>& rows, std::size_t most) {
  if (rows.size() <= most) return;
  const auto half = rows.begin() + static_cast<std::ptrdiff_t>(most / 2);
  std::ranges::stable_sort(rows, {}, [](const Record& row) { return *row.time_us(); });
  std::sort(half, rows.end(), [](const Record& a, const Record& b) {
    return a.created_unix_ms != b.created_unix_ms ? a.created_unix_ms > b.created_unix_ms : a.id < b.id;
  });
  rows.resize(most);
}

/// Returns the rows of a group whose kernels are not those of `task`.
std::vector<Record> rows_of(const Database& log, const Group& group, bool own, const std::string& identity,
                            const Candidates& candidates, std::size_t most) {
  std::vector<Record> rows = log.all(group.where);
  std::erase_if(rows, [&](const Record& row) {
    return !row.time_us() ||
           (own && (!candidates.space.find(row.config) ||
                    (candidates.space.contains(row.config) && answers(row, identity, candidates))));
  });
  cut(rows, most);
  return rows;
}

}  // namespace

std::vector<TaskInLog> tasks_in_log(const Database& log, const RecordFilter& filter) {
  std::vector<TaskInLog> logged;
  for (const RecordFilter& each : log.tasks(filter)) {
    try {
      logged.push_back({each, parse_workload(each.workload)});
    } catch (const Error&) {
    }
  }
  return logged;
}

std::vector<PastTask> past_tasks(const Database& log, const Task& task, const Candidates& candidates,
                                 const RowOf& own_rows, std::size_t columns, bool kernels,
                                 std::size_t most_rows) {
  const std::string identity = identity_of(task.device), own_text = task.problem.text;
  std::vector<PastTask> tasks;
  const std::vector<Group> groups = groups_of(log, task, kernels);
  const std::size_t shares = std::clamp<std::size_t>(groups.size(), 1, 4);
  const std::size_t most_each = std::clamp(most_rows / shares, kLeastTaskRows, kMostTaskRows);
  std::size_t left = most_rows;
  int tried = 0;
  for (const Group& group : groups) {
    if (left == 0 || tasks.size() == kMostTasks || tried++ == kMostTried) break;
    const bool own = group.where.workload == own_text;
    std::optional<Candidates> theirs;
    RowOf row_of = own_rows;
    if (!own) {
      try {
        theirs.emplace(candidates_for(task_of(group.workload, task.device)));
      } catch (const Error&) {  // no family serves the workload on this device
        continue;
      }
      row_of = theirs->row_of;
    }
    PastTask past{group.where.workload, std::exp2(-group.distance / 2), {}, FeatureMatrix(columns), {}};
    std::vector<float> row(columns);
    for (const Record& record : rows_of(log, group, own, identity, candidates, std::min(most_each, left))) {
      const Space& space = theirs ? theirs->space : candidates.space;
      const auto point = space.find(record.config);
      if (!point || !row_of(*point, row)) continue;
      past.configs.push_back(space.config_of(*point));
      past.rows.append(row);
      past.times_us.push_back(*record.time_us());
    }
    left -= past.times_us.size();
    if (!past.times_us.empty()) tasks.push_back(std::move(past));
  }
  return tasks;
}

std::size_t hint_rows(int trials, double time_s) {
  double rows = kMostTasks * kMostTaskRows;
  if (time_s > 0) rows = std::min(rows, kShare * time_s / kSecondsPerRow);
  if (trials > 0) rows = std::min(rows, kShare * kSecondsPerTrial * trials / kSecondsPerRow);
  return static_cast<std::size_t>(std::lround(rows));
}

}  // namespace lehr
