// Searches over tables and seeds: see report.h.
#include "replay/report.h"

#include <algorithm>
#include <cmath>

#include "tune/consistent_tasks.h"

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
  XgboostOptions options;
  options.seed = plan.options.seed;
  ConsistentTasks trusted = consistent_tasks(std::move(tasks), options);
  if (trusted.tasks.empty()) return std::nullopt;
  return std::optional<Transfer>(std::in_place, std::move(trusted.tasks), options);
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

}  // namespace lehr
