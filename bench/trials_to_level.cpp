// How many trials each strategy needed to come within a share of the best known time, read from tuning logs.
//   trials_to_level LEVEL STRATEGY:SEED:FILE.db ... > table.md
// A log holds one workload or several; the best known time of a workload is the fastest row over all logs
// given. A run that never reached the level counts with its number of trials, marked ">".
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "database/database.h"

namespace {

using namespace lehr;

struct Run {
  std::string strategy;
  std::string seed;
  std::vector<Record> records;
  std::map<std::string, double> final_speed;  // by workload: the winner over the default, timed interleaved
};

double time_of(const Record& record) {
  const Timing* timing = std::get_if<Timing>(&record.outcome);
  return timing ? timing->time_us : INFINITY;
}

// Speed of each trial of a workload in units of the run's default, in order.
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

int run(int argc, char** argv) {
  if (argc < 3) throw_user("usage: trials_to_level LEVEL STRATEGY:SEED:FILE.db ...");
  const double level = std::atof(argv[1]);
  if (!(level > 0 && level <= 1)) throw_user("LEVEL is a share of the best speed, in (0, 1], such as 0.95");
  std::vector<Run> runs;
  std::map<std::string, double> best;
  std::set<std::string> strategies;
  for (int i = 2; i < argc; ++i) {
    const auto parts = split(argv[i], ':');
    if (parts.size() != 3) throw_user("'{}' is not STRATEGY:SEED:FILE.db", argv[i]);
    const Database log = Database::open_read_only(std::string(parts[2]));
    Run entry{std::string(parts[0]), std::string(parts[1]), log.all({}), {}};
    for (const Verdict& verdict : log.verdicts({})) {
      entry.final_speed[verdict.workload] = verdict.speedup_vs_default;
      double& speed = best[verdict.workload];
      speed = std::max(speed, verdict.speedup_vs_default);
    }
    strategies.insert(entry.strategy);
    runs.push_back(std::move(entry));
  }
  fmt::print("| workload | best known, x default |");
  for (const std::string& strategy : strategies)
    fmt::print(" {0}: trials by seed | {0}: median | {0}: final, x default, median |", strategy);
  fmt::print("\n|---|---|");
  for (std::size_t i = 0; i < strategies.size(); ++i) fmt::print("---|---|---|");
  fmt::print("\n");
  for (const auto& [workload, best_speed] : best) {
    fmt::print("| {} | {:.2f} |", workload.substr(0, workload.find(" batch=")), best_speed);
    for (const std::string& strategy : strategies) {
      std::vector<double> needed;
      std::vector<double> finals;
      std::string list;
      for (const Run& entry : runs) {
        if (entry.strategy != strategy) continue;
        const std::vector<double> speeds = speeds_of(entry, workload);
        const int trials = static_cast<int>(speeds.size());
        const auto at = std::find_if(speeds.begin(), speeds.end(),
                                     [&](double speed) { return speed >= level * best_speed; });
        const int reached = at == speeds.end() ? 0 : static_cast<int>(at - speeds.begin()) + 1;
        if (trials == 0) continue;
        if (const auto final = entry.final_speed.find(workload); final != entry.final_speed.end())
          finals.push_back(final->second);
        needed.push_back(reached > 0 ? reached : trials + 1);
        list += fmt::format("{}{}", list.empty() ? "" : ", ",
                            reached > 0 ? fmt::format("{}", reached) : fmt::format(">{}", trials));
      }
      const auto middle = [](std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values.empty() ? 0.0 : values[values.size() / 2];
      };
      fmt::print(" {} | {:.0f} | {:.2f} |", list, middle(needed), middle(finals));
    }
    fmt::print("\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const lehr::Error& error) {
    fmt::print(stderr, "trials_to_level: {}\n", error.what());
    return 1;
  }
}
