// Finds the stored trial that is the answer for each workload on each device.
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
  /// Its facts are those that its kernel was lowered with; nullopt: the log does not have them.
  std::optional<StoredDevice> device;
  /// If it is a single trial, it has its time alone.
  Verdict verdict;
  /// Whether it won the finals of a session on this machine. If false, it is only the fastest single trial.
  bool contested = false;
  /// The log that its row was merged from; "": measured here.
  std::string merged_from;
  /// All trials of the task, failures included; for a range, those of its kernels.
  std::int64_t trials = 0;
  /// For a range of rows, the kernels that cover it. Then `record` is the one for the most rows, with the
  /// last member's config and the range's text, and the verdict's time is that of the most rows.
  std::optional<RowSet> rows = std::nullopt;
};

/// Returns one winner per (workload, device) that matches, by workload, then device. `filter.device` matches
/// any part of the identity. For a kernel known_best() decides (tune/known_best.h). For a range of rows the
/// newest verdict with a set from this machine decides; without one there is no winner. Trials of kernels
/// with any number of rows in calls of fewer than the most ("rows=24") are evidence for ranges, and not
/// winners, unless `filter.workload` names them. Nor is a kernel for the most rows ("m=..2048") beside a set
/// for that range, unless it has won its own finals.
std::vector<Winner> winners(const Database& database, const RecordFilter& filter);

}  // namespace lehr
