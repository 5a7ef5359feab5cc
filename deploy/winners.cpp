// Joins verdicts with trials.
#include "deploy/winners.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace lehr {
namespace {

constexpr double kClearlyFaster = 0.05;

// The trial that a verdict names, if it is of the task: a stranger's verdict may name any.
std::optional<Record> record_named(const Database& database, const RecordFilter& task,
                                   const std::string& id) {
  std::optional<Record> record = database.find(id);
  const bool of_task = record && record->workload == task.workload && record->device == task.device &&
                       (task.target.empty() || record->target == task.target) &&
                       (task.family.empty() || record->config.family == task.family);
  return of_task ? record : std::nullopt;
}

}  // namespace

std::vector<Winner> winners(const Database& database, const RecordFilter& filter) {
  std::vector<Winner> result;
  const std::map<std::uint64_t, StoredDevice> devices = database.devices();
  const std::map<std::string, std::string> origins = database.origins();
  for (const TaskStats& task : database.stats().tasks) {
    if (!filter.workload.empty() && task.workload != filter.workload) continue;
    if (task.device.find(filter.device) == std::string::npos) continue;
    const RecordFilter exact = {task.workload, task.device, filter.target, filter.family};
    const std::optional<Record> fastest = database.best(exact);
    if (!fastest) continue;
    Winner winner;
    winner.record = *fastest;
    const Timing& timing = std::get<Timing>(fastest->outcome);
    winner.verdict.best = {timing.time_us, interval_of(timing)};
    winner.trials = task.timed;
    for (const auto& [kind, count] : task.failed) winner.trials += count;
    const std::vector<StoredVerdict> verdicts =
        database.verdicts({task.workload, task.device, filter.target, ""});
    if (!verdicts.empty()) {
      const StoredVerdict& verdict = verdicts[0];
      const std::optional<Record> won = record_named(database, exact, verdict.record_id);
      const bool outdone = fastest->created_unix_ms > verdict.created_unix_ms &&
                           timing.time_us < verdict.best.us * (1 - kClearlyFaster);
      if (won && !outdone) {
        winner.record = *won;
        winner.contested = true;
        winner.verdict = verdict;
      }
    }
    if (const auto origin = origins.find(winner.record.session); origin != origins.end())
      winner.merged_from = origin->second;
    if (const auto device = devices.find(winner.record.device_hash); device != devices.end())
      winner.device = device->second;
    result.push_back(std::move(winner));
  }
  std::ranges::sort(result, [](const Winner& a, const Winner& b) {
    return std::tie(a.record.workload, a.record.device) < std::tie(b.record.workload, b.record.device);
  });
  return result;
}

}  // namespace lehr
