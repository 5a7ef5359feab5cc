// The results of `lehr replay` as text.
#pragma once

#include <string>
#include <vector>

#include "replay/report.h"

namespace lehr {

/// Returns a table per recorded table and one line over all.
std::string replay_text(const std::vector<TableReport>& reports, const ReplayPlan& plan);
}  // namespace lehr
