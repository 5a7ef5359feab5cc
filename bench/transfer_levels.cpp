// What hints are worth: searches on recorded tables, cold and with other tables as a start, and how soon the
// second reaches what the first had at its end.
//   transfer_levels TRIALS SEEDS SOURCES TARGETS     (both: files of tables)
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/read_table.h"
#include "replay/report.h"

namespace {

using namespace lehr;

/// Trials until a search is at `level_us`; its length where it never is.
std::size_t trials_to(const std::vector<double>& search, double level_us) {
  const auto at = std::ranges::find_if(search, [&](double best_us) { return best_us <= level_us; });
  return std::min<std::size_t>(static_cast<std::size_t>(at - search.begin()) + 1, search.size());
}

/// Geometric means over seeds, cold and warm.
struct Pair {
  double cold = 0, warm = 0;
  void add(std::size_t cold_trials, std::size_t warm_trials) {
    cold += std::log(static_cast<double>(cold_trials));
    warm += std::log(static_cast<double>(warm_trials));
  }
  Pair mean(int seeds) const { return {std::exp(cold / seeds), std::exp(warm / seeds)}; }
};

/// Trials to the level of the cold search's end, and to 95 % of the optimum.
struct Row {
  Pair to_end, to_95;
};

Row run(const Table& target, const std::vector<Table>& sources, std::size_t trials, int seeds) {
  const Arena arena(target, false);
  ReplayPlan plan;
  plan.options.tuner = tuner_options(plan.options.strategy);
  plan.options.trials = trials;
  for (const Table& source : sources) plan.transfer.push_back(&source);
  const std::optional<Transfer> transfer = transfer_to(arena, plan);
  if (!transfer) throw_user("no source has anything to tell about {}", target.kernel);
  Row row;
  for (int seed = 0; seed < seeds; ++seed) {
    ReplayOptions options = plan.options;
    options.seed = static_cast<std::uint64_t>(seed);
    const std::vector<double> cold = replay(arena, options);
    options.transfer = &*transfer;
    const std::vector<double> warm = replay(arena, options);
    row.to_end.add(trials_to(cold, cold.back()), trials_to(warm, cold.back()));
    const double good_us = target.optimum_us() / 0.95;
    row.to_95.add(trials_to(cold, good_us), trials_to(warm, good_us));
  }
  return {row.to_end.mean(seeds), row.to_95.mean(seeds)};
}

void run_all(std::size_t trials, int seeds, const std::string& from, const std::string& to) {
  const std::vector<Table> sources = read_tables(from), targets = read_tables(to);
  fmt::print(
      "{} seeds, {} trials. Geometric means of trials to the level that the cold search had at its end, and "
      "to "
      "95 % of the optimum.\n\n"
      "| target | rows | to cold's end: cold | warm | ratio | to 95 %: cold | warm | ratio |\n"
      "|---|---|---|---|---|---|---|---|\n",
      seeds, trials);
  double end_ratio = 0, good_ratio = 0;
  for (const Table& target : targets) {
    const auto [to_end, to_95] = run(target, sources, trials, seeds);
    fmt::print("| {} on {} | {} | {:.0f} | {:.0f} | {:.2f} | {:.0f} | {:.0f} | {:.2f} |\n", target.kernel,
               target.device, target.rows.size(), to_end.cold, to_end.warm, to_end.cold / to_end.warm,
               to_95.cold, to_95.warm, to_95.cold / to_95.warm);
    std::fflush(stdout);
    end_ratio += std::log(to_end.cold / to_end.warm) / static_cast<double>(targets.size());
    good_ratio += std::log(to_95.cold / to_95.warm) / static_cast<double>(targets.size());
  }
  fmt::print("| geometric mean | | | | {:.2f} | | | {:.2f} |\n", std::exp(end_ratio), std::exp(good_ratio));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: transfer_levels TRIALS SEEDS SOURCES TARGETS\n");
    return 1;
  }
  try {
    run_all(std::stoul(argv[1]), std::stoi(argv[2]), argv[3], argv[4]);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "transfer_levels: {}\n", error.what());
    return 1;
  }
}
