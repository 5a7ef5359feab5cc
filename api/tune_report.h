// The result of `lehr tune` for people.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "record/device.h"
#include "tune/range.h"
#include "tune/summary.h"

namespace lehr {

/// Returns a table of times, then the budget, the stop reason and what to do next. Ends with a line break.
std::string report_text(const Summary& summary, const Device& device, const std::string& database);

/// Reports a range: which kernel serves which rows, what is lost, where the time went.
std::string report_text(const RangeSummary& summary, const Device& device, const std::string& database);

/// Lists the kernels of a set and the rows that each serves, in lines of `width` characters (0: no limit).
/// Then says what is lost by having no other kernels.
std::string set_text(const RowSet& set, std::size_t width = 0);

/// Returns one row per workload, in their order.
using AnySummary = std::variant<Summary, RangeSummary>;
std::string overview_text(const std::vector<AnySummary>& summaries);

}  // namespace lehr
