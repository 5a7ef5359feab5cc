// What `lehr db` prints, as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "database/database.h"

namespace lehr {

nlohmann::json to_json(const DatabaseStats& stats);
/// One line, then a table of the tasks.
std::string stats_text(const std::string& file, const DatabaseStats& stats);

nlohmann::json to_json(const Verification& found);
/// One line for each finding (the first 20 rows), the last one says what it means.
std::string verification_text(const std::string& file, const Verification& found);

nlohmann::json to_json(const AddedRows& rows);
/// "12 trials and 1 verdict added, 3 were there already, 2 damaged rows left out".
std::string added_text(const AddedRows& rows);

}  // namespace lehr
