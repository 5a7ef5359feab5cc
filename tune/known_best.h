// The best stored trial of one workload on one device: by the newest verdict, or by time.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "database/database.h"
#include "tune/task.h"

namespace lehr {

/// A single trial of another run counts as faster only if it is faster by more than this fraction. Times of
/// one kernel in different runs differed by up to 7 % on a virtual machine, whose clock drifts.
inline constexpr double kClearlyFaster = 0.05;

/// A stored trial, and how well its time is known.
struct KnownBest {
  Record record;
  /// The verdict of its contest. For a single trial only the verdict's time is set.
  Verdict verdict;
  /// Whether it won the finals of a session on this machine. If false, it is only the fastest single trial.
  bool contested = false;
};

/// Returns the best trial of `task`, which names one workload and one device. `verdicts` are the log's
/// verdicts on it, the newest first. The newest verdict decides, unless a later trial was clearly faster than
/// its winner (an interrupted session leaves trials, but no verdict). Returns nullopt if nothing is timed.
std::optional<KnownBest> known_best(const Database& log, const RecordFilter& task,
                                    std::span<const StoredVerdict> verdicts);

/// Returns the newest proven verdict whose kernel is still an answer for this version (answers(),
/// tune/stored_kernel.h).
std::optional<StoredVerdict> standing_verdict(const Task& task, const Candidates& candidates,
                                              const Database& log);

/// Returns the timed trial with this `id` if it is a trial of `task`. Verdicts of merged logs may name any
/// trial.
std::optional<Record> record_named(const Database& log, const RecordFilter& task, const std::string& id);

}  // namespace lehr
