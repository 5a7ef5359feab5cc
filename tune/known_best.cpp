// The newest verdict or the fastest trial: see known_best.h.
#include "tune/known_best.h"

#include <utility>

#include "measure/core/stats.h"
#include "tune/stored_kernel.h"

namespace lehr {

std::optional<Record> record_named(const Database& log, const RecordFilter& task, const std::string& id) {
  std::optional<Record> record = log.find(id);
  const bool of_task = record && record->time_us() && record->workload == task.workload &&
                       record->device == task.device &&
                       (task.target.empty() || record->target == task.target) &&
                       (task.family.empty() || record->config.family == task.family);
  return of_task ? record : std::nullopt;
}

std::optional<StoredVerdict> standing_verdict(const Task& task, const Candidates& candidates,
                                              const Database& log) {
  const std::string identity = identity_of(task.device);
  std::vector<StoredVerdict> verdicts =
      log.verdicts({.workload = task.problem.text, .device = identity, .target = "", .family = ""});
  for (StoredVerdict& verdict : verdicts) {
    if (verdict.provisional) continue;
    const std::optional<Record> record = log.find(verdict.record_id);
    if (record && candidates.space.contains(record->config) && answers(*record, identity, candidates))
      return std::move(verdict);
  }
  return std::nullopt;
}

std::optional<KnownBest> known_best(const Database& log, const RecordFilter& task,
                                    std::span<const StoredVerdict> verdicts) {
  std::optional<Record> fastest = log.best(task);
  if (!fastest) return std::nullopt;
  const Timing& timing = std::get<Timing>(fastest->outcome);
  if (!verdicts.empty()) {
    const StoredVerdict& verdict = verdicts[0];
    std::optional<Record> won = record_named(log, task, verdict.record_id);
    const bool outdone = fastest->created_unix_ms > verdict.created_unix_ms &&
                         timing.time_us < verdict.best.us * (1 - kClearlyFaster);
    if (won && !outdone) return KnownBest{*std::move(won), verdict, true};
  }
  KnownBest best;
  best.verdict.best = {timing.time_us, interval_of(timing)};
  best.record = *std::move(fastest);
  return best;
}

}  // namespace lehr
