// Combines verdicts with trials.
#include "deploy/winners.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "tune/known_best.h"
#include "tune/task.h"
#include "workload/short_text.h"

namespace lehr {
namespace {

std::int64_t trials_of(const TaskStats& task) {
  std::int64_t trials = task.timed;
  for (const auto& [kind, count] : task.failed) trials += count;
  return trials;
}

/// Returns the number of trials of a range's kernels.
std::int64_t trials_of_range(const Workload& range, const std::string& device, const DatabaseStats& stats) {
  const Workload kernels = kernels_of(range);
  std::int64_t trials = 0;
  for (const TaskStats& task : stats.tasks) {
    if (task.device != device) continue;
    const std::optional<Workload> workload = read_workload(task.workload);
    if (workload && of_any_call(*workload) == kernels) trials += trials_of(task);
  }
  return trials;
}

/// Returns a range's newest verdict with its set; nullopt if there is no such verdict.
std::optional<Winner> range_winner(const Database& database, const RecordFilter& task,
                                   const std::vector<StoredVerdict>& verdicts) {
  if (verdicts.empty()) return std::nullopt;
  std::optional<RowSet> set = row_set_of(verdicts[0]);
  std::optional<Record> record = record_named(database, task, verdicts[0].record_id);
  if (!set || !record) return std::nullopt;
  Winner winner;
  winner.record = *std::move(record);
  winner.contested = true;
  winner.verdict = verdicts[0];
  winner.rows = std::move(set);
  return winner;
}

/// Returns the winner of one kernel.
std::optional<Winner> kernel_winner(const Database& database, const RecordFilter& exact,
                                    const std::vector<StoredVerdict>& verdicts) {
  std::optional<KnownBest> best = known_best(database, exact, verdicts);
  if (!best) return std::nullopt;
  Winner winner;
  winner.record = std::move(best->record);
  winner.verdict = std::move(best->verdict);
  winner.contested = best->contested;
  return winner;
}

/// Whether the winner is only the best trial of a kernel that was a candidate for the set of another winner,
/// a range.
bool is_of_a_set(const Winner& winner, const std::vector<Winner>& all) {
  const std::optional<Workload> workload = read_workload(winner.record.workload);
  if (winner.contested || !workload || rows_of(*workload) == 0) return false;
  return std::ranges::any_of(all, [&](const Winner& other) {
    return other.rows && other.record.device == winner.record.device &&
           kernels_of(parse_workload(other.record.workload)) == *workload;
  });
}

}  // namespace

std::vector<Winner> winners(const Database& database, const RecordFilter& filter) {
  std::vector<Winner> result;
  const std::map<std::uint64_t, StoredDevice> devices = database.devices();
  const std::map<std::string, std::string> origins = database.origins();
  const DatabaseStats stats = database.stats();
  for (const TaskStats& task : stats.tasks) {
    if (!filter.workload.empty() && task.workload != filter.workload) continue;
    if (task.device.find(filter.device) == std::string::npos) continue;
    const std::optional<Workload> workload = read_workload(task.workload);
    if (filter.workload.empty() && workload && of_any_call(*workload) != *workload) continue;
    const RecordFilter exact = {task.workload, task.device, filter.target, filter.family};
    const std::vector<StoredVerdict> verdicts =
        database.verdicts({task.workload, task.device, filter.target, ""});
    const bool range = workload && is_range(*workload);
    std::optional<Winner> winner =
        range ? range_winner(database, exact, verdicts) : kernel_winner(database, exact, verdicts);
    if (!winner) continue;
    winner->trials = range ? trials_of_range(*workload, task.device, stats) : trials_of(task);
    if (const auto origin = origins.find(winner->record.session); origin != origins.end())
      winner->merged_from = origin->second;
    if (const auto device = devices.find(winner->record.device_hash); device != devices.end())
      winner->device = device->second;
    result.push_back(*std::move(winner));
  }
  std::vector<Winner> alone;
  for (const Winner& winner : result)
    if (!is_of_a_set(winner, result)) alone.push_back(winner);
  result = std::move(alone);
  std::ranges::sort(result, [](const Winner& a, const Winner& b) {
    return std::tie(a.record.workload, a.record.device) < std::tie(b.record.workload, b.record.device);
  });
  return result;
}

}  // namespace lehr
