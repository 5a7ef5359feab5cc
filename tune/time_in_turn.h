// Times schedules that somebody names, in turn with each other and the vendor libraries, without a search.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/core/measurer.h"
#include "tune/task.h"

namespace lehr {

/// Checks each point's kernel against the reference, and times all right ones to the end, in turn with
/// `baselines`: libraries, and kUnfused, which is the first point's kernel without its epilogue. Returns an
/// entry for each point, named by its config, then one for each baseline. Throws as Measurer::contest().
std::vector<ContestEntry> time_in_turn(const Task& task, const Candidates& candidates,
                                       const std::vector<Point>& points, std::vector<std::string> baselines,
                                       double seconds, Measurer& measurer);

/// Returns one object per entry, with its speedup over the first.
nlohmann::json to_json(const std::vector<ContestEntry>& entries);

}  // namespace lehr
