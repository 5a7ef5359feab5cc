// Makes one self-contained page about logs: what was tuned, how, and with which results. Nothing is run for
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/document.h"

namespace lehr::report {

struct Request {
  std::vector<std::string> logs;     ///< files; the oldest first if they are about one thing
  std::vector<std::string> applied;  ///< folders that `lehr apply` or `lehr optimize` wrote
  /// Most trials of a task that are shown, besides those that were the fastest until then and the first of
  /// each kind of failure; 0: all.
  std::int64_t most_others = 5000;
};

/// Reads everything. Throws Error(kUser) for a file that is not a log or a folder that is not such a one,
/// Error(kNotFound) if no log has a trial.
Document read(const Request& request);

/// Returns the page: HTML that includes its charts' program, and loads nothing from any network.
std::string page_of(const Document& document);

}  // namespace lehr::report
