// A network that `lehr apply` wrote, as a page shows it.
#pragma once

#include <string>
#include <vector>

#include "report/document.h"

namespace lehr::report {

/// Returns the document that `lehr apply` keeps in its folder, and adds `matches`, with an entry for each
/// workload of the network: `task` (its position in `tasks`), `best_us`, `default_us` and `library_us` of one
/// match (null: not known), `occurrences` (number of matches), `kernels` (number of matches that kernels
/// compute), and `before_us` and `after_us` of all these matches in the engine. Throws Error(kUser) if the
/// folder has no such document.
nlohmann::json read_network(const std::string& folder, const std::vector<Task>& tasks);

}  // namespace lehr::report
