// A stored trial whose kernel this version makes otherwise, or of which the log tells too little, checked and
// timed as it is made now.
#pragma once

#include <string>

#include "database/database.h"
#include "measure/core/stats.h"
#include "tune/open_device.h"

namespace lehr {

struct Remeasured {
  std::string why_not;  ///< a clause; "": it was measured
  Time time = {};       ///< of the contest's winner
  bool won = false;     ///< it is that; else the default
};

/// A short session on the trial's device, where that is on this machine, with the same driver and compiler:
/// its config and the default, timed in turn with the usual vendor libraries. Its trials are new rows, and
/// its verdict is the newest of the workload, so that winners() goes by it.
Remeasured remeasure(const Record& record, Database& database, const OpenOptions& options);

}  // namespace lehr
