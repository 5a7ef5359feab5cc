// Makes one self-contained page about logs: what was tuned, how, and with which results. No kernel, engine or
// compiler runs for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/document.h"

namespace lehr::report {

struct Request {
  std::vector<std::string> logs;     ///< paths of logs; if they show a development, the oldest first
  std::vector<std::string> applied;  ///< folders that `lehr apply` or `lehr optimize` wrote
  /// Upper limit of the number of trials that a page shows per task. Trials that were the fastest so far, and
  /// the first of each kind of failure, are always shown and do not count. 0: all trials are shown.
  std::int64_t most_others = 5000;
};

/// Reads all logs and folders. Throws Error(kUser) if a file is not a log, or a folder was not written by
/// `lehr apply` or `lehr optimize`, and Error(kNotFound) if no log has a trial.
Document read(const Request& request);

/// Returns the page as HTML. It includes the program that draws charts, and loads nothing from a network.
std::string page_of(const Document& document);

}  // namespace lehr::report
