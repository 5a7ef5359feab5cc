// Verdicts whose own session has measured something faster.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "database/database.h"

namespace lehr::bench {

/// Factor by which three trials have to beat a verdict before it counts as lost: one trial, or two, may have
/// been lucky.
inline constexpr double kBehind = 1.15;

/// Returns the speed of a session's third-best trial over that of its verdict, for a document of `lehr tune
/// --json`: each against the reference kernel beside it (which the default is), or against the default's time
/// in the contest where none was timed (calls of more than 5 ms). 0: there are no three trials.
double behind_three(const nlohmann::json& document, const Database& log);

/// Returns the sentence of a table with so many verdicts: how many are behind by more than kBehind, and
/// which. `behind` has the name and behind_three() of each.
std::string behind_text(const std::vector<std::pair<std::string, double>>& behind);

}  // namespace lehr::bench
