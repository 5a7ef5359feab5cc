// The text that `lehr db` prints.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "database/database.h"

namespace lehr {

/// Returns a line about the log, then a table of its tasks. `width` is the maximum width of a line; 0: no
/// limit.
std::string stats_text(const std::string& file, const DatabaseStats& stats, std::size_t width);

/// Returns a line for each damaged row, 20 at most, and a last line that explains the result.
std::string verification_text(const std::string& file, const Verification& found);

/// Returns a line for each file of which rows were left out, and a line about all files: "2 logs: 12 trials
/// and 1 verdict added, 3 were there already". `added` has an entry for each file.
std::string merged_text(const std::vector<std::string>& files, const std::vector<AddedRows>& added);

/// Returns a line of progress: "120 of 1000 logs merged, 60000 trials, 20000 a second, 59 s left".
/// `elapsed_s` is the time since the merge began.
std::string merging_text(std::size_t done, std::size_t logs, std::int64_t trials, double elapsed_s);

}  // namespace lehr
