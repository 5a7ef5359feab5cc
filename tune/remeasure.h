// Checks and times a stored trial again. Its kernel is made differently by this version, or the log knows too
// little of it.
#pragma once

#include <string>

#include "database/database.h"
#include "measure/core/stats.h"
#include "tune/open_device.h"

namespace lehr {

struct Remeasured {
  std::string why_not;  ///< why it was not measured, a clause; "": it was
  Time time = {};       ///< the contest winner's
  bool won = false;     ///< whether it won; if false, the default did
};

/// Runs a short session on the trial's device, if this machine has it with the same driver and compiler: its
/// config and the default are timed in turn with the usual vendor libraries. Its trials are new rows. Its
/// verdict is the workload's newest, so winners() uses it.
Remeasured remeasure(const Record& record, Database& database, const OpenOptions& options);

}  // namespace lehr
