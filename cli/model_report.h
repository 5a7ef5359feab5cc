// The result of `lehr tune --model` for people and for programs.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/core/device.h"
#include "network/places.h"
#include "tune/many_tasks.h"

namespace lehr {

/// The tasks of a model that the device has a family for; `leave_out` gets a sentence for each other one, and
/// for each family that fails to describe itself.
std::vector<SharedTask> served_tasks(const NetworkPlaces& places, const Device& device,
                                     const std::function<void(const std::string&)>& leave_out);

/// "37 of 52 workloads are known, 9 near, 6 new".
std::string knowledge_text(const std::vector<SharedTask>& tasks);

/// A row per workload, the totals, what to do next with the same `flags` (ModelFlags::as_flags()). Ends with
/// a line break.
std::string report_text(const std::string& flags, const std::vector<SharedResult>& results,
                        const Device& device, const std::string& database);
nlohmann::json document_of(const std::string& file, const std::vector<SharedResult>& results,
                           const std::string& database);

}  // namespace lehr
