// A network that `lehr apply` wrote, as a page shows it.
#pragma once

#include <string>
#include <vector>

#include "report/document.h"

namespace lehr::report {

/// Returns the document that `lehr apply` keeps in its folder, with `matches`: for each of its workloads its
/// position there, `best_us`, `default_us` and `library_us` of one match (null: not known), `occurrences`, of
/// these `kernels`, and `before_us` and `after_us` of all matches in the engine. Throws Error(kUser) for a
/// folder without it.
nlohmann::json read_network(const std::string& folder, const std::vector<Task>& tasks);

}  // namespace lehr::report
