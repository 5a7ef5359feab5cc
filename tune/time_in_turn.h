// Times schedules that the caller names, in turn with each other and the vendor libraries, without a search.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/core/measurer.h"
#include "tune/task.h"

namespace lehr {

/// Checks each point's kernel against the reference, and times all correct kernels to the end, in turn with
/// `baselines`. A baseline is a library, or kUnfused, which is the first point's kernel without its epilogue.
/// Returns an entry for each point, named by its config, then an entry for each baseline. Throws as
/// Measurer::contest().
std::vector<ContestEntry> time_in_turn(const Task& task, const Candidates& candidates,
                                       const std::vector<Point>& points, std::vector<std::string> baselines,
                                       double seconds, Measurer& measurer);

/// Returns one object per entry, with the entry's speedup over the first entry.
nlohmann::json to_json(const std::vector<ContestEntry>& entries);

}  // namespace lehr
