// Grouping, distance and features: see past_tasks.h.
#include "tune/past_tasks.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

struct Group {
  Workload workload;
  std::string name;
  double distance = 0;
  std::vector<const Record*> rows;
};

// The fastest half, and the newest of the others.
void cut(std::vector<const Record*>& rows) {
  if (rows.size() <= kMostTaskRows) return;
  std::vector<const Record*> by_time = rows;
  const auto half = by_time.begin() + kMostTaskRows / 2;
  std::ranges::stable_sort(by_time, {}, [](const Record* row) { return *row->time_us(); });
  std::sort(half, by_time.end(), [](const Record* a, const Record* b) {
    return a->created_unix_ms != b->created_unix_ms ? a->created_unix_ms > b->created_unix_ms : a->id < b->id;
  });
  by_time.resize(kMostTaskRows);
  rows = std::move(by_time);
}

}  // namespace

std::vector<PastTask> past_tasks(const std::vector<Record>& records, const Task& task,
                                 const Candidates& candidates, const RowOf& own_rows, std::size_t columns,
                                 bool kernels) {
  const std::string identity = identity_of(task.device), own_text = to_text(task.workload);
  std::map<std::pair<std::string, std::string>, Group> groups;
  for (const Record& row : records) {
    if (!row.time_us() || row.target != name_of(task.device.limits.target))
      continue;
    const bool own = row.workload == own_text;
    if (!own && !kernels) continue;
    if (own && !candidates.space.contains(row.config)) continue;
    if (own && answers(row, identity, candidates)) continue;
    Group& group = groups[{row.workload, row.device}];
    if (group.rows.empty()) {
      try {
        group.workload = parse_workload(row.workload);
      } catch (const Error&) {  // of a newer version
        continue;
      }
      group.distance = distance(task.workload, group.workload) + (row.device == identity ? 0 : 1);
      group.name = row.workload;
    }
    group.rows.push_back(&row);
  }
  std::vector<Group*> nearest;
  for (auto& [key, group] : groups)
    if (!group.rows.empty()) nearest.push_back(&group);
  std::ranges::stable_sort(nearest, {}, &Group::distance);
  std::vector<PastTask> tasks;
  for (Group* group : nearest) {
    if (tasks.size() == kMostTasks) break;
    cut(group->rows);
    PastTask past{group->name, std::exp2(-group->distance / 2), {}, FeatureMatrix(columns), {}};
    std::optional<Candidates> theirs;
    RowOf row_of = own_rows;
    if (group->name != own_text) {
      try {
        theirs.emplace(candidates_for({group->workload, task.device}));
      } catch (const Error&) {  // no family serves it here
        continue;
      }
      row_of = kernel_rows(*theirs, task.device.limits);
    }
    std::vector<float> row(columns);
    for (const Record* record : group->rows) {
      const auto point = (theirs ? theirs->space : candidates.space).find(record->config);
      if (!point || !row_of(*point, row)) continue;
      past.configs.push_back(record->config);
      past.rows.append(row);
      past.times_us.push_back(*record->time_us());
    }
    if (!past.times_us.empty()) tasks.push_back(std::move(past));
  }
  return tasks;
}

}  // namespace lehr
