// Finds, for each workload on each device, the stored trial with the best kernel.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "database/database.h"
#include "database/row_set.h"
#include "measure/core/stats.h"

namespace lehr {

/// The best known kernel of one workload on one device.
struct Winner {
  Record record;
  /// The facts of the device with which the kernel was lowered; nullopt: the log does not have them.
  std::optional<StoredDevice> device;
  /// The verdict of the finals. For a single trial it has only the trial's time.
  Verdict verdict;
  /// Whether the kernel won the finals of a session on this machine. If false, it is only the fastest single
  /// trial.
  bool contested = false;
  /// The log from which the row was merged; "": it was measured on this machine.
  std::string merged_from;
  /// Number of all trials of the task, including failures; for a range, number of trials of its kernels.
  std::int64_t trials = 0;
  /// For a range of rows, the kernels that cover it. Then `record` is for the most rows: it has the config of
  /// the last member and the text of the range. The verdict's time is also for the most rows.
  std::optional<RowSet> rows = std::nullopt;
};

/// Returns one winner for each workload and device that the filter selects, ordered by workload, then device.
/// `filter.device` matches any part of a device's identity. For a single kernel known_best() decides
/// (tune/known_best.h). For a range of rows the newest verdict with a set from this machine decides; without
/// such a verdict the range has no winner. Trials with fewer rows than the most ("rows=24") only serve for
/// choosing the kernels of ranges. They are not winners unless `filter.workload` names them. If a range has a
/// set, its kernel for the most rows ("m=..2048") is not a winner of its own unless it has won its own
/// finals.
std::vector<Winner> winners(const Database& database, const RecordFilter& filter);

}  // namespace lehr
