// A recorded table: configs of one kernel on one device with their times, measured once by whatever program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/limits.h"
#include "space/space.h"
#include "workload/workload.h"

namespace lehr {

/// What our own logs know beyond knobs: enough to lower a config again.
struct TableOrigin {
  Workload workload;
  Limits limits;
};

struct TableRow {
  Config config;
  std::optional<double> time_us;  ///< nullopt: it failed to compile, run or be right
};

struct Table {
  std::string file;    ///< as the user wrote it
  std::string kernel;  ///< "Xgemm 4096x4096", or the workload
  std::string device;
  std::vector<TableRow> rows;         ///< distinct configs; at least one has a time
  std::vector<std::string> notes;     ///< what a reader should know of how it was read
  std::optional<TableOrigin> origin;  ///< of our own logs only
  /// Of our own logs: timed rows whose configs this version makes into other kernels than were measured, or
  /// into none.
  std::size_t other_kernels = 0;

  /// Fastest time. CHECKs that there is one.
  double optimum_us() const;
};

/// The space whose valid configs are the rows of the table: one listed family per family. Throws Error(kUser)
/// for more than kMostKnobs knobs.
Space space_of(const Table& table);

}  // namespace lehr
