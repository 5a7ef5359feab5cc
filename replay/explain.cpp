// Counts, folds and weights: see explain.h.
#include "replay/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/describe_json.h"
#include "base/error.h"
#include "costmodel/cross_validation.h"
#include "costmodel/feature_groups.h"
#include "costmodel/importance.h"
#include "replay/figures.h"
#include "replay/origin.h"
#include "replay/run.h"
#include "templates/catalog.h"
#include "tune/knob_features.h"
#include "tune/tuner.h"

namespace lehr {
namespace {

constexpr std::size_t kFolds = 5;

bool is_older(const Record& record) {
  const auto found = std::ranges::find(catalog(), record.config.family, &Template::name);
  return found == catalog().end() || found->version != record.template_version;
}

std::vector<PickSource> picks_of(const std::vector<Record>& records) {
  std::map<std::string, PickSource> sources;
  std::map<std::string, std::vector<double>> times;
  for (const Record& record : records) {
    PickSource& source = sources[record.picked_by];
    source.picked_by = record.picked_by;
    ++source.trials;
    if (record.predicted) ++source.predicted;
    if (const auto us = record.time_us())
      times[record.picked_by].push_back(*us);
    else
      ++source.failed;
  }
  std::vector<PickSource> result;
  for (auto& [name, source] : sources) {
    if (const auto found = times.find(name); found != times.end()) {
      source.best_us = std::ranges::min(found->second);
      source.median_us = percentile(found->second, 0.5);
    }
    result.push_back(std::move(source));
  }
  std::ranges::stable_sort(result, std::greater<>(), &PickSource::trials);
  return result;
}

std::vector<SessionQuality> stored_quality(const std::vector<Record>& records) {
  struct Scored {
    std::string session;
    std::vector<double> predicted, speed;
  };
  std::vector<Scored> sessions;
  for (const Record& record : records) {
    const auto us = record.time_us();
    if (!us || !record.predicted) continue;
    auto found = std::ranges::find(sessions, record.session, &Scored::session);
    if (found == sessions.end()) found = sessions.insert(found, {record.session, {}, {}});
    found->predicted.push_back(*record.predicted);
    found->speed.push_back(1 / *us);
  }
  std::vector<SessionQuality> result;
  for (const Scored& each : sessions)
    if (each.speed.size() >= 2)
      result.push_back({each.session, rank_quality(each.predicted, each.speed),
                        near_pairwise_accuracy(each.predicted, each.speed)});
  return result;
}

std::vector<ExplainedConfig> configs_of(const std::vector<Record>& records) {
  std::vector<ExplainedConfig> configs;
  std::vector<std::vector<double>> times;
  std::unordered_map<Config, std::size_t, ConfigHash> position;
  for (const Record& record : records) {
    const auto us = record.time_us();
    if (!us) continue;
    const auto [found, fresh] = position.try_emplace(record.config, configs.size());
    if (fresh) {
      configs.push_back({{record}, 0, 0});
      times.emplace_back();
    }
    times[found->second].push_back(*us);
    ExplainedConfig& config = configs[found->second];
    if (!config.predicted) config.predicted = record.predicted;
  }
  for (std::size_t i = 0; i < configs.size(); ++i) configs[i].time_us = percentile(times[i], 0.5);
  return configs;
}

/// One feature row per config, with the names of the columns.
struct Rows {
  FeatureMatrix rows;
  std::vector<ColumnWeight> columns;
};

/// Returns the feature rows of kernels. Removes from `configs` the configs that cannot be lowered.
Rows kernel_rows_of(const TableOrigin& origin, std::vector<ExplainedConfig>& configs) {
  Rows result{FeatureMatrix(feature_table().size()), {}};
  const RowOfConfig row_of = lowered_rows(origin);
  std::vector<float> row(feature_table().size());
  std::vector<ExplainedConfig> kept;
  for (ExplainedConfig& config : configs) {
    if (!row_of(config.config, row)) continue;
    result.rows.append(row);
    kept.push_back(std::move(config));
  }
  configs = std::move(kept);
  for (const FeatureGroup& group : feature_groups())
    for (const FeatureInfo& info : feature_table().subspan(group.first, group.columns))
      result.columns.push_back({std::string(info.name), std::string(group.name), std::string(info.unit),
                                std::string(info.meaning)});
  return result;
}

Rows knob_rows_of(const std::vector<ExplainedConfig>& configs) {
  Table table;
  for (const ExplainedConfig& config : configs) table.rows.push_back({config.config, config.time_us});
  const Space space = space_of(table);
  const KnobFeatures knobs(space, KnobColumns::kWithPairs);
  Rows result{FeatureMatrix(knobs.names().size()), {}};
  std::vector<float> row(knobs.names().size());
  for (const ExplainedConfig& config : configs) {
    knobs.row_of(config.config, row);
    result.rows.append(row);
  }
  for (const std::string& name : knobs.names()) result.columns.push_back({name, "", "", ""});
  return result;
}

Rows rows_of(const std::vector<Record>& records, const LoggedFacts& facts, Explanation& explanation) {
  if (const auto origin = origin_of(records, facts)) {
    std::vector<ExplainedConfig> lowered = explanation.configs;
    Rows rows = kernel_rows_of(*origin, lowered);
    if (lowered.size() >= kFewestToExplain) {
      explanation.not_lowered = explanation.configs.size() - lowered.size();
      explanation.configs = std::move(lowered);
      return rows;
    }
  }
  explanation.kernels = false;
  return knob_rows_of(explanation.configs);
}

/// Fills in the origin of the records and their numbers by kind.
void count(const std::vector<Record>& records, Explanation& result) {
  result.workload = records[0].workload;
  result.device = records[0].device;
  result.target = records[0].target;
  result.arch = records[0].arch;
  std::set<std::string> sessions;
  for (const Record& record : records) {
    sessions.insert(record.session);
    ++result.trials;
    ++(record.time_us() ? result.timed : result.failed);
    if (record.time_us() && is_older(record)) ++result.older;
  }
  result.sessions = sessions.size();
  result.picks = picks_of(records);
  result.stored = stored_quality(records);
}

/// Computes how much each column and each group of columns contributes to a model of the rows: its fraction
/// of the model's gain, and the loss of rank quality on held-out rows when it is shuffled. The largest come
/// first.
void weigh(Rows& rows, Explanation& result, const CrossValidation& folds, const std::vector<double>& times_us,
           const std::vector<double>& speeds) {
  XgboostModel whole;
  Dataset data(rows.rows.columns());
  append_group(data, rows.rows, times_us);
  whole.fit(data);
  const std::vector<double> gains = whole.gain_shares();
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t c = 0; c < rows.columns.size(); ++c) sets.push_back({c});
  if (result.kernels) {
    for (const FeatureGroup& group : feature_groups()) {
      result.groups.push_back({std::string(group.name), std::string(group.meaning), group.columns});
      std::vector<std::size_t>& set = sets.emplace_back();
      for (std::size_t c = group.first; c < group.first + group.columns; ++c) {
        set.push_back(c);
        result.groups.back().gain += gains[c];
      }
    }
  }
  const std::vector<double> weights = permutation_importance(folds, rows.rows, speeds, sets);
  for (std::size_t c = 0; c < rows.columns.size(); ++c) {
    rows.columns[c].gain = gains[c];
    rows.columns[c].permutation = weights[c];
  }
  for (std::size_t g = 0; g < result.groups.size(); ++g)
    result.groups[g].permutation = weights[rows.columns.size() + g];
  const auto more = [](const auto& a, const auto& b) {
    return a.permutation != b.permutation ? a.permutation > b.permutation : a.gain > b.gain;
  };
  std::ranges::stable_sort(rows.columns, more);
  std::ranges::stable_sort(result.groups, more);
}

}  // namespace

std::size_t timed_configs(const std::vector<Record>& records) {
  return configs_of(records).size();
}

std::optional<Explanation> explain(const std::vector<Record>& records, const LoggedFacts& facts) {
  Explanation result;
  result.configs = configs_of(records);
  if (result.configs.size() < kFewestToExplain) return std::nullopt;
  count(records, result);

  std::ranges::stable_sort(result.configs, {}, &ExplainedConfig::time_us);
  Rows rows = rows_of(records, facts, result);
  std::vector<double> times_us, speeds;
  for (const ExplainedConfig& config : result.configs) {
    times_us.push_back(config.time_us);
    speeds.push_back(1 / config.time_us);
  }
  const CrossValidation folds(rows.rows, times_us, kFolds);
  result.folds = kFolds;
  const std::vector<double> held_out = folds.predict(rows.rows);
  for (std::size_t i = 0; i < held_out.size(); ++i) result.configs[i].held_out = held_out[i];
  result.held_out = rank_quality(held_out, speeds);

  weigh(rows, result, folds, times_us, speeds);
  result.columns = std::move(rows.columns);
  return result;
}

namespace {

using nlohmann::json;

json json_of(const RankQuality& quality) {
  json recall;
  for (std::size_t i = 0; i < kTopShares.size(); ++i)
    recall[fmt::format("{:.2f}", kTopShares[i])] = quality.recall[i];
  return {{"configs", quality.rows},
          {"spearman", quality.spearman},
          {"pairwise_accuracy", quality.pairwise_accuracy},
          {"recall", recall}};
}

}  // namespace

json to_json(const Explanation& task) {
  json picks = json::array(), stored = json::array(), groups = json::array(), features = json::array(),
       configs = json::array();
  for (const PickSource& source : task.picks)
    picks.push_back({{"picked_by", source.picked_by},
                     {"trials", source.trials},
                     {"failed", source.failed},
                     {"predicted", source.predicted},
                     {"best_us", known_or_null(source.best_us)},
                     {"median_us", known_or_null(source.median_us)}});
  for (const SessionQuality& session : task.stored) {
    json entry = json_of(session.quality);
    entry["session"] = session.session;
    entry["near_pairwise_accuracy"] = session.near_pairwise_accuracy;
    stored.push_back(std::move(entry));
  }
  for (const GroupWeight& group : task.groups)
    groups.push_back({{"group", group.name},
                      {"columns", group.columns},
                      {"meaning", group.meaning},
                      {"gain", group.gain},
                      {"permutation", group.permutation}});
  for (const ColumnWeight& column : task.columns)
    features.push_back({{"name", column.name},
                        {"group", column.group},
                        {"unit", column.unit},
                        {"meaning", column.meaning},
                        {"gain", column.gain},
                        {"permutation", column.permutation}});
  for (const ExplainedConfig& config : task.configs)
    configs.push_back({{"config", to_text(config.config)},
                       {"time_us", config.time_us},
                       {"held_out", config.held_out},
                       {"stored", config.predicted},
                       {"picked_by", config.picked_by}});
  json refitted = json_of(task.held_out);
  refitted["folds"] = task.folds;
  refitted["columns"] = task.kernels ? "kernels" : "knobs";
  return {{"device", task.device},
          {"target", task.target},
          {"arch", task.arch},
          {"trials",
           {{"all", task.trials},
            {"timed", task.timed},
            {"failed", task.failed},
            {"sessions", task.sessions},
            {"older_templates", task.older},
            {"not_lowered", task.not_lowered}}},
          {"best_us", task.configs[0].time_us},
          {"picks", picks},
          {"stored", stored},
          {"refitted", refitted},
          {"groups", groups},
          {"features", features},
          {"configs", configs}};
}

std::vector<LoggedTask> logged_tasks(const Database& database, const std::string& workload,
                                     const LoggedDevices& devices) {
  std::vector<LoggedTask> tasks;
  for (Record& record : database.all({workload, "", "", ""})) {
    if (!devices.include(record)) continue;
    auto found = std::ranges::find(tasks, record.device, &LoggedTask::device);
    if (found == tasks.end()) found = tasks.insert(found, {record.device, {}});
    found->records.push_back(std::move(record));
  }
  return tasks;
}

}  // namespace lehr
