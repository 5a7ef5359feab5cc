// Which stored trial is the answer for each workload on each device.
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
  /// With the facts that its kernel was lowered with; nullopt: the log tells none.
  std::optional<StoredDevice> device;
  /// Of a single trial: its time alone.
  Verdict verdict;
  /// Won the finals of a session that was run here (else only the fastest single trial).
  bool contested = false;
  /// The log that its row was merged from; "": measured here.
  std::string merged_from;
  /// All trials of the task, failures included; of a range, those of its kernels.
  std::int64_t trials = 0;
  /// Of a range of rows: the kernels that cover it. `record` is then that for the most rows, of the config of
  /// the last member and under the range's text, and the verdict's time is of so many.
  std::optional<RowSet> rows = std::nullopt;
};

/// One per (workload, device) that matches, by workload, then device. `filter.device` matches any part of the
/// identity. Of a kernel known_best() decides (tune/known_best.h). Of a range of rows the newest verdict with
/// a set that was run here decides, and without one there is no winner. Trials of kernels with any number of
/// rows in calls of fewer than the most ("rows=24") are evidence for ranges, and no winners, but where
/// `filter.workload` names them; nor is a kernel for the most ("m=..2048") beside a set for that range,
/// unless it has won finals of its own.
std::vector<Winner> winners(const Database& database, const RecordFilter& filter);

}  // namespace lehr
