// How many trials each strategy needed to come within a share of the best known time, read from tuning logs.
//   trials_to_level LEVEL STRATEGY:SEED:FILE.db ... > table.md
// A log holds one workload or several; the best known time of a workload is the fastest row over all logs
// given. A run that never reached the level counts with its number of trials, marked ">".
#include <fmt/format.h>

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
};

double time_of(const Record& record) {
  const Timing* timing = std::get_if<Timing>(&record.outcome);
  return timing ? timing->time_us : INFINITY;
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
    Run entry{std::string(parts[0]), std::string(parts[1]),
              Database::open_read_only(std::string(parts[2])).all({})};
    for (const Record& record : entry.records) {
      const auto [at, added] = best.emplace(record.workload, INFINITY);
      at->second = std::min(at->second, time_of(record));
    }
    strategies.insert(entry.strategy);
    runs.push_back(std::move(entry));
  }
  fmt::print("| workload | best known us |");
  for (const std::string& strategy : strategies) fmt::print(" {0}: trials by seed | {0}: median |", strategy);
  fmt::print("\n|---|---|");
  for (std::size_t i = 0; i < strategies.size(); ++i) fmt::print("---|---|");
  fmt::print("\n");
  for (const auto& [workload, best_us] : best) {
    fmt::print("| {} | {:.1f} |", workload.substr(0, workload.find(" batch=")), best_us);
    for (const std::string& strategy : strategies) {
      std::vector<double> needed;
      std::string list;
      for (const Run& entry : runs) {
        if (entry.strategy != strategy) continue;
        int trials = 0;
        int reached = 0;
        for (const Record& record : entry.records) {
          if (record.workload != workload) continue;
          ++trials;
          if (reached == 0 && time_of(record) <= best_us / level) reached = trials;
        }
        if (trials == 0) continue;
        needed.push_back(reached > 0 ? reached : trials + 1);
        list += fmt::format("{}{}", list.empty() ? "" : ", ",
                            reached > 0 ? fmt::format("{}", reached) : fmt::format(">{}", trials));
      }
      std::sort(needed.begin(), needed.end());
      fmt::print(" {} | {:.0f} |", list, needed.empty() ? 0.0 : needed[needed.size() / 2]);
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
