// The results of `lehr replay` as text, as JSON and as data for a plot.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/report.h"

namespace lehr {

/// A table per recorded table and one line over all.
std::string replay_text(const std::vector<TableReport>& reports, const ReplayPlan& plan);
/// {strategy, trials, seeds, seed, tables: [...], over_tables: {...}}; README.md of replay/ tells the keys.
nlohmann::json replay_json(const std::vector<TableReport>& reports, const ReplayPlan& plan);
/// Comma-separated: table, device, trial, fraction_median, fraction_p10, random_fraction.
std::string replay_plot(const std::vector<TableReport>& reports);

}  // namespace lehr
