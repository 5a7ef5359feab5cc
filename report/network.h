// A network that `lehr apply` wrote, as a page tells it.
#pragma once

#include <string>
#include <vector>

#include "report/document.h"

namespace lehr::report {

/// Reads what `lehr apply` keeps in the folder that it writes, and looks its workloads up among `tasks`.
/// Throws Error(kUser) for a folder without it.
Network read_network(const std::string& folder, const std::vector<Task>& tasks);

}  // namespace lehr::report
