// One workload on one device in a log.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database/database.h"
#include "deploy/winners.h"
#include "report/document.h"

namespace lehr::report {

/// The data that all tasks of a log need.
struct LogFacts {
  const Database& log;
  std::map<std::string, std::string> origins;     ///< Database::origins()
  std::map<std::uint64_t, StoredDevice> devices;  ///< Database::devices()
  std::int64_t most_others = 0;                   ///< Request::most_others
};

/// Returns a task with its winner (nullopt: nothing was timed). Trials of a range of rows are those of its
/// kernels with the most rows. Returns nullopt if the log has no sound trial of it.
std::optional<Task> tell_task(const LogFacts& facts, const std::string& workload, const std::string& device,
                              const std::optional<Winner>& winner);

}  // namespace lehr::report
