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

/// Returns the report on a range: which kernel serves which rows, how much slower they are than a kernel for
/// each size, and how the time was spent.
std::string report_text(const RangeSummary& summary, const Device& device, const std::string& database);

/// Returns lines with the kernels of a set and the rows that each kernel serves, and then how much slower the
/// set is than a kernel for each size. `width` is the maximum width of a line; 0: no limit.
std::string set_text(const RowSet& set, std::size_t width = 0);

/// Returns a table with one row per workload, in the order of the list.
using AnySummary = std::variant<Summary, RangeSummary>;
std::string overview_text(const std::vector<AnySummary>& summaries);

}  // namespace lehr
