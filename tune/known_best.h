// Which stored trial of one workload on one device is its best: by the newest verdict, or by its time.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "database/database.h"
#include "tune/task.h"

namespace lehr {

/// A single trial of another run is faster for sure where it is so by more than this share: those of one
/// kernel in different runs differed by up to 7 % on a virtual machine, whose clock drifts.
inline constexpr double kClearlyFaster = 0.05;

/// A stored trial, and what is known of its time.
struct KnownBest {
  Record record;
  /// Of a single trial: its time alone.
  Verdict verdict;
  /// It won the finals of a session that was run here (else only the fastest single trial).
  bool contested = false;
};

/// `task` names one workload and one device, `verdicts` are the log's of it, the newest first. The newest
/// decides, unless a later trial was clearly faster than its winner: an interrupted session has no verdict.
/// nullopt: nothing is timed.
std::optional<KnownBest> known_best(const Database& log, const RecordFilter& task,
                                    std::span<const StoredVerdict> verdicts);

/// The newest verdict that was proven and whose kernel is an answer today (answers(), tune/stored_kernel.h).
std::optional<StoredVerdict> standing_verdict(const Task& task, const Candidates& candidates,
                                              const Database& log);

/// The timed trial that a verdict names, if it is of `task`: a stranger's verdict may name any.
std::optional<Record> record_named(const Database& log, const RecordFilter& task, const std::string& id);

}  // namespace lehr
