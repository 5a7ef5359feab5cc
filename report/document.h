// The content of a page about logs and about networks that were applied. `json` members are parts of the
// document that `lehr report --json` prints, unchanged. The others are for drawing, and for joining these.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/outcome.h"

namespace lehr::report {

/// A session's part in one task.
struct Session {
  std::string id;
  std::int64_t began_unix_ms = 0;  ///< since 1970
  double seconds = 0;              ///< its duration: the verdict's, or the sum of its trials'
  double span = 0;                 ///< seconds until its last trial, including other tasks' turns
  nlohmann::json told;
};

/// A device that trials were measured on.
struct ToldDevice {
  std::string identity, name;
  nlohmann::json told;
};

/// One workload on one device in one log.
struct Task {
  std::size_t log = 0, device = 0;  ///< positions in the document
  std::string workload;             ///< canonical text
  Time best;                        ///< us 0: nothing was timed
  bool proven = false;              ///< whether the winner has won finals
  Ratio over_default, over_library;
  double seconds = 0;  ///< sum over its sessions
  std::vector<Session> sessions;
  ToldDevice where;
  nlohmann::json told;
};

struct Document {
  std::vector<nlohmann::json> logs;
  std::vector<ToldDevice> devices;
  std::vector<Task> tasks;  ///< by log, workload, device
  std::vector<nlohmann::json> networks;
  std::vector<nlohmann::json> changes;  ///< from each log to the next
  nlohmann::json told;                  ///< the whole document
};

}  // namespace lehr::report
