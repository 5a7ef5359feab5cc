// The result of `lehr tune` for people.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "record/device.h"
#include "tune/range.h"
#include "tune/summary.h"

namespace lehr {

/// Table of times, then budget, stop reason and what to do next. Ends with a line break.
std::string report_text(const Summary& summary, const Device& device, const std::string& database);

/// Of a range: who serves what, what is lost, where the time went.
std::string report_text(const RangeSummary& summary, const Device& device, const std::string& database);

/// The kernels of a set and the rows that each serves, in lines of `width` characters (0: any length); then
/// what is lost by having no others.
std::string set_text(const RowSet& set, std::size_t width = 0);

/// One row per workload, in their order.
using AnySummary = std::variant<Summary, RangeSummary>;
std::string overview_text(const std::vector<AnySummary>& summaries);

}  // namespace lehr
