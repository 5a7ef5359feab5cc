// Formats the results of `lehr replay` as text.
#pragma once

#include <string>
#include <vector>

#include "replay/report.h"

namespace lehr {

/// Returns a text table for each recorded table, and one line about all of them.
std::string replay_text(const std::vector<TableReport>& reports, const ReplayPlan& plan);
}  // namespace lehr
