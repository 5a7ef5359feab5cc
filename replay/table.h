// A recorded table: configs of one kernel on one device with their times, measured once by any program.
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

/// The facts that a log of ours has in addition to knobs. They are enough to lower a config again.
struct TableOrigin {
  Workload workload;
  Limits limits;
};

struct TableRow {
  Config config;
  std::optional<double> time_us;  ///< nullopt: it failed to compile or to run, or its result was wrong
};

struct Table {
  std::string file;    ///< as the user wrote it
  std::string kernel;  ///< "Xgemm 4096x4096", or the workload
  std::string device;
  std::vector<TableRow> rows;         ///< distinct configs; at least one has a time
  std::vector<std::string> notes;     ///< notes on how it was read
  std::optional<TableOrigin> origin;  ///< set for our own logs only
  /// Number of timed rows from whose configs this version makes other kernels than were measured, or no
  /// kernels. Set for our own logs only.
  std::size_t other_kernels = 0;

  /// Returns the fastest time. CHECKs that there is one.
  double optimum_us() const;
};

/// Returns a space whose valid configs are the rows of the table. Each family is a list of configs. Throws
/// Error(kUser) if there are more than kMostKnobs knobs.
Space space_of(const Table& table);

}  // namespace lehr
