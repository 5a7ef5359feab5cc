// Explains the cost model of a task in our log: how well it ranks the measured configs, and which features it
// uses.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/metrics.h"
#include "database/database.h"
#include "replay/origin.h"

namespace lehr {

/// The trials with the same `picked_by`: "default", "anneal", "transfer", ...
struct PickSource {
  std::string picked_by;
  std::size_t trials = 0, failed = 0, predicted = 0;
  double best_us = 0, median_us = 0;  ///< 0: no trial has a time
};

/// The predictions that a session stored with its picks, compared with the measured times. The session's
/// model was refitted many times, and its later candidates were better. So scores of different fits are only
/// roughly on one scale.
struct SessionQuality {
  std::string session;
  RankQuality quality;                  ///< over all timed predictions, as they were stored
  double near_pairwise_accuracy = 0.5;  ///< over pairs of picks at most kNearPicks apart
};

struct ColumnWeight {
  std::string name, group;    ///< group of the column; "" if the columns are knobs
  std::string unit, meaning;  ///< "" if the columns are knobs
  double gain = 0;            ///< fraction of the gain of all splits, in the model of all rows
  double permutation = 0;     ///< costmodel/importance.h
};
struct GroupWeight {
  std::string name, meaning;
  std::size_t columns = 0;
  double gain = 0, permutation = 0;
};

/// A distinct config with a time.
struct ExplainedConfig : Pick {  ///< the pick of the config's first timing, with the first stored prediction
  double time_us = 0;            ///< median of the config's timings
  double held_out = 0;           ///< score by a model that was fitted without the config; higher is better
};

struct Explanation {
  std::string workload, device, target, arch;
  std::size_t trials = 0, timed = 0, failed = 0, sessions = 0;
  /// Number of configs timed by an older template version; they are explained with this version's kernel.
  std::size_t older = 0;
  /// Number of distinct timed configs that the templates no longer know; they are left out.
  std::size_t not_lowered = 0;
  std::vector<PickSource> picks;       ///< the largest number of trials first
  std::vector<SessionQuality> stored;  ///< sessions with at least two timed predictions, in order
  bool kernels = true;                 ///< whether columns are the kernels' features; if false, the knobs
  std::size_t folds = 0;
  RankQuality held_out;
  std::vector<ExplainedConfig> configs;  ///< fastest first
  std::vector<GroupWeight> groups;       ///< empty if the columns are knobs
  /// Ordered by permutation importance, then by gain, the largest first.
  std::vector<ColumnWeight> columns;
};

/// Minimum number of distinct timed configs for judging a model.
inline constexpr std::size_t kFewestToExplain = 20;

/// Explains a task. `records` are all trials of one workload on one device, in order. `facts` are the log's
/// facts of devices. Returns nullopt if fewer than kFewestToExplain distinct configs have a time. The
/// refitted model is the tuner's. It is fitted to all timed configs with five folds, deterministically.
/// Configs are lowered with the templates of this version and the facts of origin_of(). If fewer than
/// kFewestToExplain configs can still be lowered, the columns are the knobs.
std::optional<Explanation> explain(const std::vector<Record>& records, const LoggedFacts& facts);

/// Returns the number of distinct configs with a time.
std::size_t timed_configs(const std::vector<Record>& records);

/// Returns the whole explanation as JSON, with the times and scores of the configs.
nlohmann::json to_json(const Explanation& task);

/// A device, with the trials of one workload on it.
struct LoggedTask {
  std::string device;
  std::vector<Record> records;
};

/// Returns the tasks of `devices`, in the order of their first trials.
std::vector<LoggedTask> logged_tasks(const Database& database, const std::string& workload,
                                     const LoggedDevices& devices);

}  // namespace lehr
