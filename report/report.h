// One self-contained page of logs: what was tuned, how, and what came of it. Nothing is run for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/document.h"

namespace lehr::report {

struct Request {
  std::vector<std::string> logs;     ///< files, the oldest first where they are of one thing
  std::vector<std::string> applied;  ///< folders that `lehr apply` or `lehr optimize` wrote
  /// Trials of a task that are told beside those that were the fastest until then and the first of each kind
  /// of failure; 0: all.
  std::int64_t most_others = 5000;
};

/// Reads all of it. Throws Error(kUser) for what is no log and no such folder, Error(kNotFound) where none of
/// the logs has a trial.
Document read(const Request& request);

/// The page: HTML with its charts' program in it, which asks nothing of any network.
std::string page_of(const Document& document);

}  // namespace lehr::report
