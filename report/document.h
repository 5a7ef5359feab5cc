// The content of a page about logs and about applied networks. Members of type `json` are parts of the
// document that `lehr report --json` prints. The other members serve for drawing figures, and for connecting
// the parts.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/outcome.h"

namespace lehr::report {

/// The trials that one session made for one task.
struct Session {
  std::string id;
  std::int64_t began_unix_ms = 0;  ///< milliseconds since 1970
  double seconds = 0;  ///< duration of the session: as in the verdict, or else the sum over its trials
  double span = 0;     ///< seconds from its beginning until its last trial, including turns of other tasks
  nlohmann::json reported;
};

/// A device that trials were measured on.
struct MeasuredDevice {
  std::string identity, name;
  nlohmann::json reported;
};

/// One workload on one device in one log.
struct Task {
  std::size_t log = 0, device = 0;  ///< positions in the document
  std::string workload;             ///< canonical text
  Time best;                        ///< best time; `us` is 0 if nothing was timed
  bool proven = false;              ///< whether the winner has won finals
  Ratio over_default, over_library;
  double seconds = 0;  ///< sum over the task's sessions
  std::vector<Session> sessions;
  MeasuredDevice where;
  nlohmann::json reported;
};

struct Document {
  std::vector<nlohmann::json> logs;
  std::vector<MeasuredDevice> devices;
  std::vector<Task> tasks;  ///< ordered by log, workload, device
  std::vector<nlohmann::json> networks;
  std::vector<nlohmann::json> changes;  ///< comparison of each log with the next
  nlohmann::json reported;              ///< the whole document
};

}  // namespace lehr::report
