// What `lehr db` prints as text.
#pragma once

#include <cstddef>
#include <string>

#include "database/database.h"

namespace lehr {

/// One line, then a table of the tasks, in lines of `width` characters (0: any length).
std::string stats_text(const std::string& file, const DatabaseStats& stats, std::size_t width);

/// One line for each finding (the first 20 rows), the last one says what it means.
std::string verification_text(const std::string& file, const Verification& found);

/// "12 trials and 1 verdict added, 3 were there already, 2 damaged rows left out".
std::string added_text(const AddedRows& rows);

}  // namespace lehr
