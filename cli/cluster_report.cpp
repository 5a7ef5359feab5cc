#include "cli/cluster_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "measure/core/format.h"
#include "workload/short_text.h"

namespace lehr {

std::string plan_text(const cluster::Plan& plan, int own, std::size_t width) {
  std::vector<std::size_t> items(static_cast<std::size_t>(plan.shards), 0);
  std::vector<double> costs(items.size(), 0);
  double all = 0;
  for (const cluster::PlanItem& item : plan.items) all += item.cost;
  const auto share = [&](double cost) { return fmt::format("{:.1f} %", all > 0 ? 100 * cost / all : 0); };
  std::vector<std::vector<std::string>> shares, workloads;
  for (const cluster::PlanItem& item : plan.items) {
    ++items[static_cast<std::size_t>(item.shard)];
    costs[static_cast<std::size_t>(item.shard)] += item.cost;
    if (item.shard == own) workloads.push_back({short_text(item.workload), share(item.cost)});
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    shares.push_back({std::to_string(i), std::to_string(items[i]), share(costs[i])});
  std::string text = format_table({"shard", "workloads", "of all"}, shares, {.width = width});
  if (!workloads.empty())
    text += fmt::format("\nshard {}:\n{}", own,
                        format_table({"<workload", "of all"}, workloads, {.width = width}));
  return text;
}

std::string survey_text(const cluster::Survey& survey, std::size_t width) {
  using enum cluster::ShardState;
  std::vector<std::vector<std::string>> rows;
  std::int64_t trials = 0, planned = 0;
  int done = 0, items = 0;
  for (const cluster::ShardProgress& shard : survey.shards) {
    trials += shard.trials;
    planned += shard.planned;
    done += shard.done;
    items += shard.items;
    std::string state(name_of(shard.state));
    if (shard.state == kSilent) state += " " + format_seconds(shard.silent_s);
    rows.push_back(
        {std::to_string(shard.shard), state, fmt::format("{}/{}", shard.done, shard.items),
         shard.planned > 0 ? fmt::format("{}/{}", shard.trials, shard.planned) : std::to_string(shard.trials),
         shard.per_minute > 0 ? fmt::format("{:.1f}", shard.per_minute) : "-", format_ratio(shard.speedup),
         shard.left_s ? format_seconds(*shard.left_s) : "-", format_time_us(shard.probe_us), shard.node,
         std::to_string(shard.attempts)});
  }
  std::string text = format_table(
      {"shard", "<state", "tuned", "trials", "trials/min", "gain", "left", "probe", "<node", "attempts"},
      rows, {.width = width});
  const auto count = [&](cluster::ShardState state) {
    return std::ranges::count(survey.shards, state, &cluster::ShardProgress::state);
  };
  text += fmt::format(
      "\n{} of {} shards done, {} running, {} silent, {} failed, {} waiting; {} of {} workloads, "
      "{}{} trials",
      count(kDone), survey.shards.size(), count(kRunning), count(kSilent), count(kFailed), count(kWaiting),
      done, items, trials, planned > 0 ? fmt::format(" of {}", planned) : "");
  if (survey.left_s) text += fmt::format("; {} left", format_seconds(*survey.left_s));
  text += "\n";
  for (const std::string& note : survey.notes) text += "note: " + printable(note) + "\n";
  return text;
}

}  // namespace lehr
