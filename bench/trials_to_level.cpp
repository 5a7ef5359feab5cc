// Reports from tuning logs how many trials each strategy needed to come within a share of the best known
// speed, and how fast its winners are.
//   trials_to_level LEVEL STRATEGY:SEED:FILE.db ... > table.md
// A log holds one workload or several. Speeds are in units of the run's own default. The best known one of a
// workload is that of the fastest winner over all logs given, as it was timed interleaved. A run that never
// reached the level counts with its number of trials and one more, marked ">". Where there are two
// strategies, the last column is the winners' speed of the second over the first, seed by seed: geometric
// mean and its standard error.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "bench/log_ratios.h"
#include "database/database.h"

namespace {

using namespace lehr;

struct Run {
  std::string strategy;
  std::string seed;
  std::vector<Record> records;
  std::map<std::string, double> final_speed;  // by workload: the winner over the default, timed interleaved
};

struct Runs {
  std::vector<Run> all;
  std::vector<std::string> strategies;  // as they were named first
  std::map<std::string, double> best;   // by workload, in units of the default
};

Runs read_runs(const std::vector<std::string>& words) {
  Runs runs;
  for (const std::string& word : words) {
    const auto parts = split(word, ':');
    if (parts.size() != 3) throw_user("'{}' is not STRATEGY:SEED:FILE.db", word);
    const Database log = Database::open_read_only(std::string(parts[2]));
    Run entry{std::string(parts[0]), std::string(parts[1]), log.all({}), {}};
    for (const StoredVerdict& verdict : log.verdicts({})) {
      entry.final_speed[verdict.workload] = verdict.speedup_vs_default.value;
      double& speed = runs.best[verdict.workload];
      speed = std::max(speed, verdict.speedup_vs_default.value);
    }
    if (std::ranges::find(runs.strategies, entry.strategy) == runs.strategies.end())
      runs.strategies.push_back(entry.strategy);
    runs.all.push_back(std::move(entry));
  }
  return runs;
}

std::string short_name(const std::string& workload) {
  std::string name = workload.substr(0, workload.find(" batch="));
  return name.substr(0, name.find(" dilation="));
}

double time_of(const Record& record) {
  const Timing* timing = std::get_if<Timing>(&record.outcome);
  return timing ? timing->time_us : INFINITY;
}

// Returns the speed of each trial of a workload in units of the run's default, in order.
std::vector<double> speeds_of(const Run& run, const std::string& workload) {
  std::vector<double> speeds;
  double default_us = 0;
  for (const Record& record : run.records) {
    if (record.workload != workload) continue;
    if (speeds.empty()) default_us = time_of(record);
    speeds.push_back(default_us / time_of(record));
  }
  return speeds;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0.0 : values[values.size() / 2];
}

// Returns " trials by seed | their median | final speed, median |".
std::string level_cells(const Runs& runs, const std::string& strategy, const std::string& workload,
                        double level) {
  std::vector<double> needed, finals;
  std::string list;
  for (const Run& run : runs.all) {
    const std::vector<double> speeds = speeds_of(run, workload);
    if (run.strategy != strategy || speeds.empty()) continue;
    const auto at =
        std::ranges::find_if(speeds, [&](double speed) { return speed >= level * runs.best.at(workload); });
    const bool reached = at != speeds.end();
    needed.push_back(static_cast<double>(at - speeds.begin()) + 1);
    list += fmt::format("{}{}{:.0f}", list.empty() ? "" : ", ", reached ? "" : ">",
                        needed.back() - (reached ? 0 : 1));
    if (const auto final = run.final_speed.find(workload); final != run.final_speed.end())
      finals.push_back(final->second);
  }
  return fmt::format(" {} | {:.0f} | {:.2f} |", list, median(needed), median(finals));
}

// Returns the logarithms of the winners' speeds of the second strategy over the first's, of the same seed.
std::vector<double> gains_of(const Runs& runs, const std::string& workload) {
  std::vector<double> gains;
  for (const Run& a : runs.all)
    for (const Run& b : runs.all) {
      if (a.strategy != runs.strategies[0] || b.strategy != runs.strategies[1] || a.seed != b.seed) continue;
      const auto first = a.final_speed.find(workload), second = b.final_speed.find(workload);
      if (first == a.final_speed.end() || second == b.final_speed.end()) continue;
      gains.push_back(std::log(second->second / first->second));
    }
  return gains;
}

void print_table(const Runs& runs, double level) {
  const bool compared = runs.strategies.size() == 2;
  std::string heads = "| workload | best known, x default |", rules = "|---|---|";
  for (const std::string& strategy : runs.strategies) {
    heads += fmt::format(" {0}: trials by seed | {0}: median | {0}: final, x default, median |", strategy);
    rules += "---|---|---|";
  }
  if (compared) {
    heads += fmt::format(" final, {} / {} |", runs.strategies[1], runs.strategies[0]);
    rules += "---|";
  }
  fmt::print("{}\n{}\n", heads, rules);
  std::vector<double> all;
  for (const auto& [workload, best_speed] : runs.best) {
    fmt::print("| {} | {:.2f} |", short_name(workload), best_speed);
    for (const std::string& strategy : runs.strategies)
      fmt::print("{}", level_cells(runs, strategy, workload, level));
    if (compared) {
      const std::vector<double> gains = gains_of(runs, workload);
      fmt::print(" {} |", ratio_text(gains));
      all.insert(all.end(), gains.begin(), gains.end());
    }
    fmt::print("\n");
  }
  if (compared) fmt::print("\nAll: {}.\n", ratio_text(all));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw_user("usage: trials_to_level LEVEL STRATEGY:SEED:FILE.db ...");
    const double level = std::atof(argv[1]);
    if (!(level > 0 && level <= 1)) throw_user("LEVEL is a share of the best speed, in (0, 1], such as 0.95");
    const Runs runs = read_runs({argv + 2, argv + argc});
    print_table(runs, level);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "trials_to_level: {}\n", error.what());
    return 1;
  }
}
