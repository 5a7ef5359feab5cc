// A strategy on several tables: the searches, their figures, and what they come to over all tables.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "replay/figures.h"
#include "replay/run.h"

namespace lehr {

struct TableReport {
  const Table* table = nullptr;
  std::vector<std::string> learnt_from;  ///< tables that served as a start
  Figures searched, random;
  /// For plots, by trial from 1: fraction of the optimum over the seeds, and random search's, optimum /
  /// expected best.
  std::vector<double> median, p10, random_expected;
};

struct ReplayPlan {
  ReplayOptions options;  ///< of the first seed
  std::size_t seeds = 10;
  std::vector<const Table*>
      transfer;  ///< each table learns from those of them that are of another device or file
};

/// What the plan's other tables tell a search on this one; nullopt if nothing.
std::optional<Transfer> transfer_to(const RecordedTask& task, const ReplayPlan& plan);

/// Called after each search with the number of searches done and their total; false ends the replay.
using ReplayProgress = std::function<bool(std::size_t done, std::size_t total)>;

/// One report per table; fewer where `progress` ended it.
std::vector<TableReport> replay_tables(const std::vector<Table>& tables, const ReplayPlan& plan,
                                       const ReplayProgress& progress);

/// Over tables: means of fractions and scores, geometric means of trials; a figure that some table has not
/// got is left out.
Figures over_tables(const std::vector<const Figures*>& figures);
Figures over_tables(const std::vector<TableReport>& reports, Figures TableReport::* which);

/// {strategy, trials, seeds, seed, tables: [...], over_tables: {...}}; README.md tells the keys.
nlohmann::json replay_json(const std::vector<TableReport>& reports, const ReplayPlan& plan);
/// Comma-separated: table, device, trial, fraction_median, fraction_p10, random_fraction.
std::string replay_plot(const std::vector<TableReport>& reports);

}  // namespace lehr
