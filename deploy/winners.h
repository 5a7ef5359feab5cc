// Which stored trial is the answer for each workload on each device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "database/database.h"
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
  /// All trials of the task, failures included.
  std::int64_t trials = 0;
};

/// One per (workload, device) that matches, by workload, then device. `filter.device` matches any part of the
/// identity. The newest verdict decides, unless a later trial was faster than its winner by more than 5 % (an
/// interrupted session has no verdict, and single trials of one kernel in different runs differed by
/// up to 7 % on a virtual machine, whose clock drifts).
std::vector<Winner> winners(const Database& database, const RecordFilter& filter);

}  // namespace lehr
