// Writes explanations of cost models as documents and tables.
#include "cli/show_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "measure/core/format.h"

namespace lehr {

using nlohmann::json;

namespace {

constexpr std::size_t kTopColumns = 15;  // number of columns in the text; JSON has all

std::string plural(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

std::vector<std::string> quality_cells(const std::string& name, const RankQuality& quality) {
  std::vector<std::string> cells = {name, std::to_string(quality.rows),
                                    fmt::format("{:.3f}", quality.spearman),
                                    percent(quality.pairwise_accuracy)};
  for (const double recall : quality.recall) cells.push_back(percent(recall));
  return cells;
}

std::string head_of(const Explanation& task) {
  std::string text = fmt::format("device: {}\ntrials: {} in {}, {} of {} timed, {} failed; best {}\n",
                                 task.device, task.trials, plural(task.sessions, "session"), task.timed,
                                 plural(task.configs.size(), "config"), task.failed,
                                 format_time_us(task.configs[0].time_us));
  if (task.older > 0)
    text += fmt::format("note: {} by older templates; what they are explained by is today's kernel\n",
                        plural(task.older, "trial"));
  if (task.not_lowered > 0)
    text += fmt::format("note: {} that the templates no longer know {} left out below\n",
                        plural(task.not_lowered, "config"), task.not_lowered == 1 ? "is" : "are");
  if (!task.kernels)
    text += "note: the templates do not know these configs any more; knobs stand for the kernels' features\n";
  return text;
}

std::string picks_of(const Explanation& task) {
  std::vector<std::vector<std::string>> rows;
  const double best = task.configs[0].time_us;
  for (const PickSource& source : task.picks)
    rows.push_back({source.picked_by, std::to_string(source.trials), std::to_string(source.failed),
                    std::to_string(source.predicted), format_time_us(source.best_us),
                    format_time_us(source.median_us),
                    source.median_us > 0 ? percent(best / source.median_us) : "-"});
  return format_table({"<picked by", "trials", "failed", "predicted", "best", "median", "best / median"},
                      rows);
}

std::string quality_of(const Explanation& task) {
  std::vector<std::vector<std::string>> rows;
  for (const SessionQuality& session : task.stored) {
    rows.push_back(quality_cells("stored, session " + session.session, session.quality));
    rows.back().push_back(percent(session.near_pairwise_accuracy));
  }
  rows.push_back(quality_cells(fmt::format("refitted, held out ({} folds)", task.folds), task.held_out));
  rows.back().push_back("-");
  std::vector<std::string> chance = {"chance", "-", "0.000", percent(0.5)};
  for (const double share : kTopShares) chance.push_back(percent(share));
  chance.push_back(percent(0.5));
  rows.push_back(std::move(chance));
  std::string text = format_table({"<predicted against measured", "configs", "Spearman", "pairs right",
                                   "of top 1 %", "of top 5 %", "of top 10 %", "near pairs right"},
                                  rows);
  if (task.stored.empty())
    text +=
        "No session timed two configs that a model had scored: there are no stored predictions to judge.\n";
  else
    text += fmt::format(
        "Stored: what the model of the moment said of what it picked. Its scale moves from fit to fit, so "
        "near "
        "pairs, at\nmost {} picks apart, say more of it; among picks that all looked good the order is the "
        "hard "
        "part.\n",
        kNearPicks);
  text += "Refitted: models of all timed configs, each config judged by one that has not seen it.\n";
  return text;
}

std::string weights_of(const Explanation& task) {
  std::string text;
  std::vector<std::vector<std::string>> rows;
  const auto weight = [](double value) { return fmt::format("{:.3f}", value); };
  for (const GroupWeight& group : task.groups)
    rows.push_back({group.name, std::to_string(group.columns), percent(group.gain), weight(group.permutation),
                    group.meaning});
  if (!rows.empty())
    text += "\n" + format_table({"<group", "columns", "gain", "permutation", "<meaning"}, rows);
  rows.clear();
  for (const ColumnWeight& column : task.columns) {
    if (rows.size() == kTopColumns || (column.gain <= 0 && column.permutation <= 0)) break;
    rows.push_back({column.name, percent(column.gain), weight(column.permutation), column.group, column.unit,
                    column.meaning});
  }
  if (!rows.empty())
    text += "\n" + format_table({"<feature", "gain", "permutation", "<group", "<unit", "<meaning"}, rows);
  text +=
      "gain: share of what all splits of the trees gained. permutation: Spearman's correlation that held-out "
      "scores lose\nwhen the column (or the whole group) is dealt to other configs; columns that say the "
      "same "
      "stand in for each other.\n";
  return text;
}

}  // namespace

void show_model(const std::vector<LoggedTask>& tasks, const LoggedFacts& facts, const std::string& database,
                const std::string& workload, json& document, std::string& text) {
  if (tasks.empty())
    throw_not_found("{} holds no trial of {} that matches; lehr tune with --db {} adds some", database,
                    workload, database);
  document["tasks"] = nlohmann::json::array();
  document["too_few"] = nlohmann::json::array();
  std::string too_few;
  std::size_t most = 0;
  for (const LoggedTask& task : tasks) {
    if (const auto explanation = explain(task.records, facts)) {
      document["tasks"].push_back(to_json(*explanation));
      text += "\n" + head_of(*explanation) + "\n" + picks_of(*explanation) + "\n" + quality_of(*explanation) +
              weights_of(*explanation);
      continue;
    }
    const std::size_t timed = timed_configs(task.records);
    most = std::max(most, timed);
    document["too_few"].push_back({{"device", task.device}, {"timed_configs", timed}});
    too_few += fmt::format("\ndevice: {}\n{}: too few to judge a model by; {} are needed\n", task.device,
                           plural(timed, "timed config"), kFewestToExplain);
  }
  if (document["tasks"].empty())
    throw_not_found("{} holds {} of {}, and {} are needed to judge a model: lehr tune it further", database,
                    plural(most, "timed config"), workload, kFewestToExplain);
  text += too_few;
}

}  // namespace lehr
