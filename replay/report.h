// The replay of a strategy on several tables: the searches, their figures, and figures over all tables.
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
  /// Names of the tables that the search learnt from before its first trial.
  std::vector<std::string> learnt_from;
  Figures searched, random;
  /// For plots, by trial from 1: median and 10th percentile, over the seeds, of the fraction of the optimum;
  /// and (optimum / expected best time) of random search.
  std::vector<double> median, p10, random_expected;
};

struct ReplayPlan {
  ReplayOptions options;  ///< options of the first seed
  std::size_t seeds = 10;
  /// Tables to learn from. Each table learns from the tables with another device or file.
  std::vector<const Table*> transfer;
};

/// Returns the knowledge that a search on this table gets from the plan's other tables; nullopt if there is
/// none.
std::optional<Transfer> transfer_to(const RecordedTask& task, const ReplayPlan& plan);

/// Called after each search with the number of finished searches and the total number. Returning false ends
/// the replay.
using ReplayProgress = std::function<bool(std::size_t done, std::size_t total)>;

/// Returns one report per table. Returns fewer if `progress` ended the replay.
std::vector<TableReport> replay_tables(const std::vector<Table>& tables, const ReplayPlan& plan,
                                       const ReplayProgress& progress);

/// Returns figures over tables: means of fractions and scores, and geometric means of trials. A figure that
/// is missing for one of the tables is left out.
Figures over_tables(const std::vector<const Figures*>& figures);
Figures over_tables(const std::vector<TableReport>& reports, Figures TableReport::* which);

/// Returns {strategy, trials, seeds, seed, tables: [...], over_tables: {...}}; README.md lists the keys.
nlohmann::json replay_json(const std::vector<TableReport>& reports, const ReplayPlan& plan);
/// Returns comma-separated lines: table, device, trial, fraction_median, fraction_p10, random_fraction.
std::string replay_plot(const std::vector<TableReport>& reports);

}  // namespace lehr
