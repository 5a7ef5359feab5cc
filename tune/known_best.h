// The best stored trial of one workload on one device: by the newest verdict, or by time.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "database/database.h"
#include "tune/task.h"

namespace lehr {

/// A single trial of another run counts as faster only by more than this share. Times of one kernel in
/// different runs differed by up to 7 % on a virtual machine, whose clock drifts.
inline constexpr double kClearlyFaster = 0.05;

/// A stored trial, and how well its time is known.
struct KnownBest {
  Record record;
  /// If it is a single trial, it has its time alone.
  Verdict verdict;
  /// Whether it won the finals of a session on this machine. If false, it is only the fastest single trial.
  bool contested = false;
};

/// Returns the best trial of `task`, which names one workload and one device. `verdicts` are the log's for
/// it, the newest first. The newest one decides, unless a later trial was clearly faster than its winner: an
/// interrupted session has no verdict. Returns nullopt if nothing is timed.
std::optional<KnownBest> known_best(const Database& log, const RecordFilter& task,
                                    std::span<const StoredVerdict> verdicts);

/// Returns the newest verdict that was proven and whose kernel is an answer today (answers(),
/// tune/stored_kernel.h).
std::optional<StoredVerdict> standing_verdict(const Task& task, const Candidates& candidates,
                                              const Database& log);

/// Returns the timed trial that a verdict names, if it is of `task`: a verdict from elsewhere may name any
/// trial.
std::optional<Record> record_named(const Database& log, const RecordFilter& task, const std::string& id);

}  // namespace lehr
