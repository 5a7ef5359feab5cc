// Schedules that somebody names, timed beside each other and the vendor libraries, without a search.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/core/measurer.h"
#include "tune/task.h"

namespace lehr {

/// Checks each point's kernel against the reference and times those that are right, all of them to the end,
/// in turn with `baselines`: libraries, and kUnfused, the first point's kernel without its epilogue. An entry
/// for each point, named by its config, then one for each of the others. Throws as Measurer::contest().
std::vector<ContestEntry> time_in_turn(const Task& task, const Candidates& candidates,
                                       const std::vector<Point>& points, std::vector<std::string> baselines,
                                       double seconds, Measurer& measurer);

/// One object per entry, with its speedup over the first.
nlohmann::json to_json(const std::vector<ContestEntry>& entries);

}  // namespace lehr
