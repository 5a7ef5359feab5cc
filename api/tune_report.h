// The result of `lehr tune` for people.
#pragma once

#include <string>
#include <vector>

#include "measure/core/device.h"
#include "tune/summary.h"

namespace lehr {

/// Table of times, then budget, stop reason and what to do next. Ends with a line break.
std::string report_text(const Summary& summary, const Device& device, const std::string& database);

/// One row per workload.
std::string overview_text(const std::vector<Summary>& summaries);

}  // namespace lehr
