// Measures the worth of hints by searches on recorded tables, cold and with other tables as a start: how soon
// the second reaches the level of the first one's end, and how fast its best config is after as many trials.
//   transfer_levels [--hints KIND] [--rows PERCENT] [--first-seed N] TRIALS SEEDS SOURCES
//                   TARGETS
// SOURCES, TARGETS: files of tables. --rows: each seed's tables are draws of PERCENT of the configs, so that
// each seed has another best one. With all rows the seeds share it, and the mean over them says little about
// other tables. --hints: the contents of the sources. true: what was measured. dealt: in each source the
// configs' times are dealt out anew at random. upside_down: each time t is 1 / t, the fastest config the
// slowest. The last two show the cost of wrong hints.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "bench/log_ratios.h"
#include "replay/read_table.h"
#include "replay/report.h"

namespace {

using namespace lehr;

enum class Hints { kTrue, kDealt, kUpsideDown };

Hints hints_named(const std::string& name) {
  if (name == "true") return Hints::kTrue;
  if (name == "dealt") return Hints::kDealt;
  if (name == "upside_down") return Hints::kUpsideDown;
  throw_user("--hints is true, dealt or upside_down, not {}", name);
}

struct Wanted {
  std::size_t trials = 128, seeds = 1, first_seed = 0, percent = 100;
  std::string hints = "true";
};

/// Returns the trials until a search is at `level_us`; its length where it never is.
std::size_t trials_at_most(const std::vector<double>& search, double level_us) {
  return trials_to(search, level_us).value_or(search.size());
}

/// Logarithms of trials, cold and warm, seed by seed.
struct Pairs {
  std::vector<double> cold, warm;

  void add(std::size_t cold_trials, std::size_t warm_trials) {
    cold.push_back(std::log(static_cast<double>(cold_trials)));
    warm.push_back(std::log(static_cast<double>(warm_trials)));
  }
  void add(const Pairs& other) {
    cold.insert(cold.end(), other.cold.begin(), other.cold.end());
    warm.insert(warm.end(), other.warm.begin(), other.warm.end());
  }
};

/// Returns "| cold | warm | cold / warm +- standard error of its mean, in percent |", geometric means.
std::string cells(const Pairs& pairs) {
  const double cold = mean(pairs.cold), warm = mean(pairs.warm);
  std::vector<double> gains;
  for (std::size_t i = 0; i < pairs.cold.size(); ++i) gains.push_back(pairs.cold[i] - pairs.warm[i]);
  return fmt::format("| {:.0f} | {:.0f} | {:.2f} +-{:.0f} % ", std::exp(cold), std::exp(warm),
                     std::exp(cold - warm), 100 * standard_error(gains));
}

constexpr std::array<std::size_t, 6> kBudgets = {8, 16, 32, 64, 96, 128};

/// Per budget, the logarithms of cold / warm best time after so many trials, seed by seed.
struct Gains {
  std::array<std::vector<double>, kBudgets.size()> of_budget;

  void add(const std::vector<double>& cold, const std::vector<double>& warm) {
    for (std::size_t i = 0; i < kBudgets.size(); ++i)
      if (kBudgets[i] <= std::min(cold.size(), warm.size()))
        of_budget[i].push_back(std::log(cold[kBudgets[i] - 1] / warm[kBudgets[i] - 1]));
  }
  void add(const Gains& other) {
    for (std::size_t i = 0; i < kBudgets.size(); ++i)
      of_budget[i].insert(of_budget[i].end(), other.of_budget[i].begin(), other.of_budget[i].end());
  }
};

/// Returns "| warm / cold speed +- its standard error, in percent " per budget, geometric means; "| - " where
/// no search was so long.
std::string cells(const Gains& gains) {
  std::string text;
  for (const std::vector<double>& each : gains.of_budget) text += fmt::format("| {} ", ratio_text(each));
  return text;
}

/// Trials to the level of the cold search's end, and to 95 % of the optimum; and the gain of each budget.
struct Row {
  Pairs to_end, to_95;
  Gains gains;

  void add(const Row& other) {
    to_end.add(other.to_end);
    to_95.add(other.to_95);
    gains.add(other.gains);
  }
};

/// Returns some `percent` of the rows, by config: the same for the same seed, in every table. As in a space,
/// a config that is missing here is missing elsewhere. Returns the whole table at 100.
Table drawn(const Table& table, std::size_t percent, std::uint64_t seed) {
  Table result = table;
  if (percent >= 100) return result;
  const Rng draw(seed);
  std::erase_if(result.rows,
                [&](const TableRow& row) { return draw.fork(to_text(row.config)).below(100) >= percent; });
  if (result.rows.empty()) throw_user("{}: no row is left at {} %", table.file, percent);
  return result;
}

/// Returns the same configs and the same times, but not each with its own.
Table dealt_anew(Table table, std::uint64_t seed) {
  std::vector<std::optional<double>> times_us;
  for (const TableRow& row : table.rows) times_us.push_back(row.time_us);
  Rng(seed).fork("dealt " + table.kernel + table.device).shuffle(times_us);
  for (std::size_t i = 0; i < times_us.size(); ++i) table.rows[i].time_us = times_us[i];
  return table;
}

Table told(const Table& source, Hints hints, std::uint64_t seed) {
  if (hints == Hints::kDealt) return dealt_anew(source, seed);
  Table table = source;
  if (hints == Hints::kUpsideDown)
    for (TableRow& row : table.rows)
      if (row.time_us) row.time_us = 1 / *row.time_us;
  return table;
}

Row run(const Table& whole, const std::vector<Table>& sources, const Wanted& wanted) {
  Row row;
  for (std::uint64_t seed = wanted.first_seed; seed < wanted.first_seed + wanted.seeds; ++seed) {
    const Table target = drawn(whole, wanted.percent, seed);
    std::vector<Table> others;
    for (const Table& source : sources) {
      others.push_back(told(drawn(source, wanted.percent, seed), hints_named(wanted.hints), seed));
    }
    const RecordedTask task(target, false);
    ReplayPlan plan;
    for (const Table& other : others) plan.transfer.push_back(&other);
    const std::optional<Transfer> transfer = transfer_to(task, plan);
    ReplayOptions options;
    options.trials = wanted.trials;
    options.seed = seed;
    const std::vector<double> cold = replay(task, options);
    options.transfer = transfer ? &*transfer : nullptr;
    const std::vector<double> warm = replay(task, options);
    const double good_us = target.optimum_us() / 0.95;
    row.to_end.add(trials_at_most(cold, cold.back()), trials_at_most(warm, cold.back()));
    row.to_95.add(trials_at_most(cold, good_us), trials_at_most(warm, good_us));
    row.gains.add(cold, warm);
  }
  return row;
}

void run_all(const Wanted& wanted, const std::string& from, const std::string& to) {
  const std::vector<Table> sources = read_tables(from), targets = read_tables(to);
  fmt::print(
      "{} seeds from {} on, {} trials, {} % of each table's rows, hints {}. Geometric means of trials to the "
      "level that the cold search had at its end, and to 95 % of the optimum; +- the standard error of the "
      "ratio.\n\n"
      "| target | to cold's end: cold | warm | ratio | to 95 %: cold | warm | ratio |\n"
      "|---|---|---|---|---|---|---|\n",
      wanted.seeds, wanted.first_seed, wanted.trials, wanted.percent, wanted.hints);
  Row all;
  std::string by_budget;
  const auto tell = [&](const std::string& name, const Row& row) {
    fmt::print("| {} {}{}|\n", name, cells(row.to_end), cells(row.to_95));
    std::fflush(stdout);
    by_budget += fmt::format("| {} {}|\n", name, cells(row.gains));
  };
  for (const Table& target : targets) {
    const Row row = run(target, sources, wanted);
    tell(fmt::format("{} on {}", target.kernel, target.device), row);
    all.add(row);
  }
  tell("all", all);
  std::string heads = "| target |", rules = "|---|";
  for (const std::size_t budget : kBudgets) {
    heads += fmt::format(" @{} |", budget);
    rules += "---|";
  }
  fmt::print(
      "\nSpeed of the best config after so many trials, warm / cold, +- its standard error.\n\n{}\n{}\n{}",
      heads, rules, by_budget);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  try {
    Wanted wanted;
    while (words.size() >= 2 && words[0].starts_with("--")) {
      if (words[0] == "--hints")
        wanted.hints = words[1];
      else if (words[0] == "--rows")
        wanted.percent = std::stoul(words[1]);
      else if (words[0] == "--first-seed")
        wanted.first_seed = std::stoul(words[1]);
      else
        break;
      words.erase(words.begin(), words.begin() + 2);
    }
    if (words.size() != 4) {
      fmt::print(
          stderr,
          "usage: transfer_levels [--hints KIND] [--rows PERCENT] [--first-seed N] TRIALS SEEDS SOURCES "
          "TARGETS\n");
      return 1;
    }
    wanted.trials = std::stoul(words[0]);
    wanted.seeds = std::stoul(words[1]);
    run_all(wanted, words[2], words[3]);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "transfer_levels: {}\n", error.what());
    return 1;
  }
}
