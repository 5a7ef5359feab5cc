// Verdicts that fall behind what their own session has measured.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "database/database.h"

namespace lehr::bench {

/// A verdict more than this behind three trials has lost a winner: one trial, or two, may have been lucky.
inline constexpr double kBehind = 1.15;

/// How many times as fast as the verdict of a document of `lehr tune --json` three trials of its session
/// were, each against the reference kernel beside it (which the default is), or against the default's time in
/// the contest where none was timed (calls of more than 5 ms). 0: there are no three.
double behind_three(const nlohmann::json& document, const Database& log);

/// The sentence of a table with so many verdicts: how many are behind by more than kBehind, and which.
/// `behind`: of each one its name and behind_three().
std::string behind_text(const std::vector<std::pair<std::string, double>>& behind);

}  // namespace lehr::bench
