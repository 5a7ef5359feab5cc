// Describes one workload on one device in a log.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/database.h"
#include "deploy/winners.h"
#include "report/document.h"

namespace lehr::report {

/// The data that the descriptions of all tasks of a log need.
struct LogFacts {
  const Database& log;
  std::map<std::string, std::string> origins;     ///< result of Database::origins()
  std::map<std::uint64_t, StoredDevice> devices;  ///< result of Database::devices()
  std::int64_t most_others = 0;                   ///< see Request::most_others
};

/// Returns the description of a task. `winner` is nullopt if nothing was timed. The trials of a range of rows
/// are those of its kernels with the most rows. Returns nullopt if the log has no undamaged trial of the
/// task.
std::optional<Task> tell_task(const LogFacts& facts, const std::string& workload, const std::string& device,
                              const std::optional<Winner>& winner);

}  // namespace lehr::report
