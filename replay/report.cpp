// Searches over tables and seeds: see report.h.
#include "replay/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/describe_json.h"

namespace lehr {
namespace {

void add_curves(TableReport& report, const std::vector<std::vector<double>>& searches,
                const RandomBaseline& random) {
  const std::size_t trials = searches[0].size();
  for (std::size_t i = 0; i < trials; ++i) {
    std::vector<double> fractions;
    for (const auto& search : searches)
      fractions.push_back(random.optimum_us() / search[std::min(i, search.size() - 1)]);
    report.median.push_back(percentile(fractions, 0.5));
    report.p10.push_back(percentile(fractions, 0.1));
    report.random_expected.push_back(random.optimum_us() / random.expected_us(i + 1));
  }
}

}  // namespace

std::optional<Transfer> transfer_to(const RecordedTask& task, const ReplayPlan& plan) {
  std::vector<PastTask> tasks;
  for (const Table* source : plan.transfer)
    if (auto past = past_task(*source, task)) tasks.push_back(*std::move(past));
  if (tasks.empty()) return std::nullopt;
  return std::optional<Transfer>(std::in_place, std::move(tasks), plan.options.seed);
}

std::vector<TableReport> replay_tables(const std::vector<Table>& tables, const ReplayPlan& plan,
                                       const ReplayProgress& progress) {
  std::vector<TableReport> reports;
  const std::size_t total = tables.size() * plan.seeds;
  std::size_t done = 0;
  for (const Table& table : tables) {
    TableReport report;
    report.table = &table;
    const RecordedTask task(table, plan.options.strategy == "autotvm");
    const RandomBaseline random(table);
    const std::optional<Transfer> transfer = transfer_to(task, plan);
    if (transfer)
      for (const PastTask& past : transfer->tasks()) report.learnt_from.push_back(past.name);
    std::vector<std::vector<double>> searches;
    for (std::size_t i = 0; i < plan.seeds; ++i) {
      ReplayOptions options = plan.options;
      options.seed += i;
      options.transfer = transfer ? &*transfer : nullptr;
      searches.push_back(replay(task, options));
      if (!progress(++done, total)) return reports;
    }
    report.searched = figures_of(searches, random);
    report.random = figures_of_random(random, plan.options.trials);
    add_curves(report, searches, random);
    reports.push_back(std::move(report));
  }
  return reports;
}

Figures over_tables(const std::vector<const Figures*>& figures) {
  Figures result;
  const auto n = static_cast<double>(figures.size());
  for (std::size_t i = 0; i < kFractionTrials.size(); ++i) {
    Spread mean;
    bool all = true;
    for (const Figures* each : figures) {
      all = all && each->fraction[i];
      if (!all) break;
      mean.median += each->fraction[i]->median / n;
      mean.p10 += each->fraction[i]->p10 / n;
    }
    if (all) result.fraction[i] = mean;
  }
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    double logs = 0;
    bool all = true;
    for (const Figures* each : figures) {
      all = all && each->trials_to[i];
      if (!all) break;
      logs += std::log(*each->trials_to[i]) / n;
    }
    if (all) result.trials_to[i] = std::exp(logs);
  }
  for (const Figures* each : figures) result.score += each->score / n;
  return result;
}

Figures over_tables(const std::vector<TableReport>& reports, Figures TableReport::* which) {
  std::vector<const Figures*> figures;
  for (const TableReport& report : reports) figures.push_back(&(report.*which));
  return over_tables(figures);
}

namespace {

using nlohmann::json;

json json_of(const Figures& figures) {
  json fraction = json::object(), trials_to = json::object();
  for (std::size_t i = 0; i < kFractionTrials.size(); ++i) {
    const auto& value = figures.fraction[i];
    fraction[std::to_string(kFractionTrials[i])] =
        value ? json{{"median", value->median}, {"p10", value->p10}} : json(nullptr);
  }
  for (std::size_t i = 0; i < kLevels.size(); ++i)
    trials_to[fmt::format("{:.2f}", kLevels[i])] = figures.trials_to[i];
  return {{"fraction", fraction}, {"trials_to", trials_to}, {"score", figures.score}};
}

// Returns text for a comma-separated file, in quotes, with quotes within it doubled.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

}  // namespace

json replay_json(const std::vector<TableReport>& reports, const ReplayPlan& plan) {
  json tables = json::array();
  for (const TableReport& report : reports) {
    json each = json_of(report.searched);
    each["table"] = report.table->file;
    each["kernel"] = report.table->kernel;
    each["device"] = report.table->device;
    each["rows"] = report.table->rows.size();
    each["other_kernels"] = report.table->other_kernels;
    each["optimum"] = report.table->optimum_us();
    each["random"] = json_of(report.random);
    each["transfer"] = report.learnt_from;
    tables.push_back(std::move(each));
  }
  json whole = json_of(over_tables(reports, &TableReport::searched));
  whole["random"] = json_of(over_tables(reports, &TableReport::random));
  return {{"strategy", plan.options.strategy},
          {"trials", plan.options.trials},
          {"seeds", plan.seeds},
          {"seed", plan.options.seed},
          {"tables", tables},
          {"over_tables", whole}};
}

std::string replay_plot(const std::vector<TableReport>& reports) {
  std::string text = "table,device,trial,fraction_median,fraction_p10,random_fraction\n";
  for (const TableReport& report : reports) {
    for (std::size_t i = 0; i < report.median.size(); ++i)
      text += fmt::format("{},{},{},{:.6f},{:.6f},{:.6f}\n", quoted(report.table->file),
                          quoted(report.table->device), i + 1, report.median[i], report.p10[i],
                          report.random_expected[i]);
  }
  return text;
}

}  // namespace lehr
