// `lehr show --as model`: the model of a task of a log, as JSON and as tables.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "replay/explain.h"

namespace lehr {

/// Adds "tasks" (one per device with enough trials) and "too_few" to `document`, and the same as tables to
/// `text`. Throws Error(kNotFound) with one sentence if there is no trial or no device has enough. `database`
/// and `workload` are for that sentence.
void show_model(const std::vector<LoggedTask>& tasks, const LoggedFacts& facts, const std::string& database,
                const std::string& workload, nlohmann::json& document, std::string& text);

}  // namespace lehr
