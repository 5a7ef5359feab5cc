// Measures how soon strategies come near the optimum of recorded tables. Prints a Markdown table.
//   replay_ablation [--transfer] [--trials N] [--in_flight N] [--only I] [--first-seed N] SEEDS STRATEGY,...
//   TABLE...
// --in_flight: so many are in flight at a time (1). --transfer: each table is searched with the others as a
// start, where they have the same knobs. --trials: length of each search (384). --only: table I alone is
// searched, counted from 0. --first-seed: the seeds are N, N + 1, ... (0).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "replay/read_table.h"
#include "replay/report.h"

namespace {

using namespace lehr;

struct Plan {
  bool transfer = false;
  std::size_t trials = 384;
  std::size_t in_flight = 1;
  std::size_t only = SIZE_MAX;  // the only table that is searched; SIZE_MAX: all
  std::size_t first_seed = 0;
};

struct Result {
  Figures figures;
  double to_95 = 0, to_99 = 0;  // trials, geometric means over the seeds; all where a seed never came
};

/// Returns the logarithm of the trials until `share` of the optimum; of all trials if it is not reached.
double log_trials(double share, const std::vector<double>& search, double optimum_us) {
  return std::log(static_cast<double>(trials_to(search, optimum_us / share).value_or(search.size())));
}

Result run(std::string_view strategy, const Table& table, const std::vector<Table>& others,
           const Plan& wanted, int seeds) {
  const RecordedTask task(table, strategy == "autotvm");
  const RandomBaseline random(table);
  ReplayPlan plan;
  plan.options.strategy = strategy;
  plan.options.in_flight = wanted.in_flight;
  plan.options.trials = wanted.trials;
  for (const Table& other : others) plan.transfer.push_back(&other);
  const std::optional<Transfer> transfer = transfer_to(task, plan);
  if (transfer) plan.options.transfer = &*transfer;
  Result result;
  std::vector<std::vector<double>> searches;
  for (int seed = 0; seed < seeds; ++seed) {
    plan.options.seed = wanted.first_seed + static_cast<std::uint64_t>(seed);
    searches.push_back(replay(task, plan.options));
    result.to_95 += log_trials(0.95, searches.back(), random.optimum_us()) / seeds;
    result.to_99 += log_trials(0.99, searches.back(), random.optimum_us()) / seeds;
  }
  result.to_95 = std::exp(result.to_95);
  result.to_99 = std::exp(result.to_99);
  result.figures = figures_of(searches, random);
  return result;
}

int run_all(const std::vector<std::string>& words, const Plan& plan) {
  const int seeds = std::stoi(words[0]);
  std::vector<Table> tables;
  for (std::size_t i = 2; i < words.size(); ++i)
    for (Table& table : read_tables(words[i])) tables.push_back(std::move(table));
  fmt::print(
      "{} seeds from {} on, {} trials, {} in hand{}. @n: median fraction of the optimum after n trials (10th "
      "percentile); to 95 %, to 99 %: geometric mean over the "
      "seeds.\n\n| strategy | table | @16 | @32 | @64 | @128 | @256 | to 95 % | to 99 % | score |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      seeds, plan.first_seed, plan.trials, plan.in_flight,
      plan.transfer ? ", the other tables as a start" : "");
  for (const std::string_view strategy : split(words[1], ',')) {
    double logs_95 = 0, logs_99 = 0;
    std::size_t searched = 0;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (plan.only != SIZE_MAX && i != plan.only) continue;
      const Table& table = tables[i];
      const Result result = run(strategy, table, plan.transfer ? tables : std::vector<Table>(), plan, seeds);
      std::string line = fmt::format("| {} | {} on {} ", strategy, table.kernel, table.device);
      for (const auto& fraction : result.figures.fraction)
        line += fraction ? fmt::format("| {:.3f} ({:.3f}) ", fraction->median, fraction->p10) : "| - ";
      fmt::print("{}| {:.0f} | {:.0f} | {:.3f} |\n", line, result.to_95, result.to_99, result.figures.score);
      std::fflush(stdout);
      logs_95 += std::log(result.to_95);
      logs_99 += std::log(result.to_99);
      ++searched;
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, searched));
    fmt::print("| {} | geometric mean | | | | | | {:.0f} | {:.0f} | |\n", strategy, std::exp(logs_95 / count),
               std::exp(logs_99 / count));
  }
  return 0;
}

/// Returns the member that a flag sets; nullptr for any other flag.
std::size_t* number_of(Plan& plan, const std::string& flag) {
  if (flag == "--trials") return &plan.trials;
  if (flag == "--slots") return &plan.in_flight;
  if (flag == "--only") return &plan.only;
  return flag == "--first-seed" ? &plan.first_seed : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  Plan plan;
  while (!words.empty() && words[0].starts_with("--")) {
    const std::string flag = words[0];
    words.erase(words.begin());
    if (flag == "--transfer") {
      plan.transfer = true;
    } else if (std::size_t* const number = number_of(plan, flag); number && !words.empty()) {
      *number = std::stoul(words[0]);
      words.erase(words.begin());
    } else {
      words.clear();
    }
  }
  if (words.size() < 3) {
    fmt::print(
        stderr,
        "usage: replay_ablation [--transfer] [--trials N] [--slots N] [--only I] [--first-seed N] SEEDS "
        "STRATEGY,... TABLE...\n");
    return 1;
  }
  try {
    return run_all(words, plan);
  } catch (const std::exception& error) {
    fmt::print(stderr, "replay_ablation: {}\n", error.what());
    return 1;
  }
}
