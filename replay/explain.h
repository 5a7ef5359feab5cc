// Explains the model of a task in our log: how well it ranks the measured configs, and on which features.
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

/// The trials that one origin picked: "default", "anneal", "transfer", ...
struct PickSource {
  std::string picked_by;
  std::size_t trials = 0, failed = 0, predicted = 0;
  double best_us = 0, median_us = 0;  ///< 0: none has a time
};

/// The predictions that a session stored with its picks, compared with the measured times. The session's
/// model was refitted many times, and the candidates it compared became better: scores of different fits are
/// only roughly on one scale.
struct SessionQuality {
  std::string session;
  RankQuality quality;                  ///< of all timed predictions as they are
  double near_pairwise_accuracy = 0.5;  ///< over pairs of picks at most kNearPicks apart
};

struct ColumnWeight {
  std::string name, group;    ///< group "" if the columns are knobs
  std::string unit, meaning;  ///< "" if the columns are knobs
  double gain = 0;            ///< share of all splits' gain in the model of all rows
  double permutation = 0;     ///< costmodel/importance.h
};
struct GroupWeight {
  std::string name, meaning;
  std::size_t columns = 0;
  double gain = 0, permutation = 0;
};

/// A distinct config with a time.
struct ExplainedConfig : Pick {  ///< the pick of its first timing, with the first stored prediction
  double time_us = 0;            ///< median of its timings
  double held_out = 0;           ///< score by a model that has not seen it; higher is better
};

struct Explanation {
  std::string workload, device, target, arch;
  std::size_t trials = 0, timed = 0, failed = 0, sessions = 0;
  std::size_t older = 0;               ///< timed by an older template version; explained with today's kernel
  std::size_t not_lowered = 0;         ///< distinct timed configs that the templates no longer know: left out
  std::vector<PickSource> picks;       ///< most trials first
  std::vector<SessionQuality> stored;  ///< of sessions with at least two timed predictions, in order
  bool kernels = true;                 ///< whether columns are the kernels' features; if false, the knobs
  std::size_t folds = 0;
  RankQuality held_out;
  std::vector<ExplainedConfig> configs;  ///< fastest first
  std::vector<GroupWeight> groups;       ///< empty if the columns are knobs
  std::vector<ColumnWeight> columns;     ///< by permutation importance, then gain, most first
};

/// Least distinct timed configs for judging a model.
inline constexpr std::size_t kFewestToExplain = 20;

/// Explains a task. `records` are all trials of one workload on one device, in order; `facts` are those that
/// the log has of devices. Returns nullopt if fewer than kFewestToExplain distinct configs have a time. The
/// refitted model is the tuner's, fitted on all timed configs with five folds, deterministically. Rows are
/// lowered with the templates of today and the facts of origin_of(). If fewer than kFewestToExplain can still
/// be lowered, the columns are the knobs.
std::optional<Explanation> explain(const std::vector<Record>& records, const LoggedFacts& facts);

/// Returns the number of distinct configs with a time.
std::size_t timed_configs(const std::vector<Record>& records);

/// Returns the whole explanation, with the configs' times and scores.
nlohmann::json to_json(const Explanation& task);

/// A device, with the log's trials of this workload on it.
struct LoggedTask {
  std::string device;
  std::vector<Record> records;
};

/// Returns the tasks of `devices`, in the order of their first trials.
std::vector<LoggedTask> logged_tasks(const Database& database, const std::string& workload,
                                     const LoggedDevices& devices);

}  // namespace lehr
