// The result of `lehr tune --model` for people and for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "record/device.h"
#include "tune/many_tasks.h"

namespace lehr {

/// Returns "37 of 52 workloads are known, 9 near, 6 new".
std::string knowledge_text(const std::vector<SharedTask>& tasks);

/// Returns a table with a row per workload, the totals, and commands to continue with, which repeat `flags`
/// (ModelFlags::as_flags()). Ends with a line break.
std::string report_text(const std::string& flags, const std::vector<SharedResult>& results,
                        const Device& device, const std::string& database);
nlohmann::json document_of(const std::string& file, const std::vector<SharedResult>& results,
                           const std::string& database);

}  // namespace lehr
