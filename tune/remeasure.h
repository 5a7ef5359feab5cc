// Checks and times a stored trial again, because this version makes its kernel differently or because the log
// knows too little of it.
#pragma once

#include <string>

#include "database/database.h"
#include "measure/core/stats.h"
#include "tune/open_device.h"

namespace lehr {

struct Remeasured {
  std::string why_not;  ///< a clause that says why the trial was not measured; "": it was measured
  Time time = {};       ///< time of the contest's winner
  bool won = false;     ///< whether the trial's config won; if false, the default won
};

/// Runs a short session on the trial's device, if this machine has that device with the same driver and
/// compiler. The trial's config and the default are timed in turns with the usual vendor libraries. The
/// session's trials are new rows. Its verdict is the workload's newest, so winners() uses it.
Remeasured remeasure(const Record& record, Database& database, const OpenOptions& options);

}  // namespace lehr
