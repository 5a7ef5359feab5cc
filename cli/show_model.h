// `lehr show --as model`: the cost model of a task in a log, as JSON and as tables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "replay/explain.h"

namespace lehr {

/// Adds "tasks" (one per device with enough trials) and "too_few" to `document`, and tables with the same
/// content to `text`. Throws Error(kNotFound) with one sentence if there is no trial, or if no device has
/// enough trials. The sentence names `database` and `workload`.
void show_model(const std::vector<LoggedTask>& tasks, const LoggedFacts& facts, const std::string& database,
                const std::string& workload, nlohmann::json& document, std::string& text);

}  // namespace lehr
