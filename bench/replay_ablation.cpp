// What each part of the tuner gives: variants of its options, replayed on recorded tables.
//   replay_ablation SEEDS VARIANT,... TABLE...      (no variant: all)
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/text.h"
#include "replay/figures.h"
#include "replay/read_table.h"
#include "replay/run.h"

namespace {

using namespace lehr;

struct Variant {
  std::string name, strategy;
  std::function<void(TunerOptions&)> change;
};

const std::vector<Variant> kVariants = {
    {"anneal", "anneal", [](TunerOptions&) {}},
    {"autotvm", "autotvm", [](TunerOptions&) {}},
    {"reg", "anneal", [](TunerOptions& o) { o.model.objective = Objective::kRegression; }},
    {"ens5", "anneal", [](TunerOptions& o) { o.members = 5; }},
    {"ens5u05", "anneal",
     [](TunerOptions& o) {
       o.members = 5;
       o.optimism = 0.5;
     }},
    {"ens5u1", "anneal",
     [](TunerOptions& o) {
       o.members = 5;
       o.optimism = 1;
     }},
    {"ens5m05", "anneal",
     [](TunerOptions& o) {
       o.members = 5;
       o.optimism = -0.5;
     }},
    {"ens5b8", "anneal",
     [](TunerOptions& o) {
       o.members = 5;
       o.batches = {8, 0, 8};
       o.learner.least_new = 8;
     }},
    {"ens5b16", "anneal",
     [](TunerOptions& o) {
       o.members = 5;
       o.batches = {8, 4, 16};
       o.learner.least_new = 8;
     }},
    {"depth3", "anneal", [](TunerOptions& o) { o.model.max_depth = 3; }},
    {"depth8", "anneal", [](TunerOptions& o) { o.model.max_depth = 8; }},
    {"batch8", "anneal",
     [](TunerOptions& o) {
       o.batches = {8, 0, 8};
     }},
    {"batch16", "anneal",
     [](TunerOptions& o) {
       o.batches = {8, 4, 16};
     }},
    {"local0", "anneal", [](TunerOptions& o) { o.strategy.anneal.local_share = 0; }},
    {"local50", "anneal", [](TunerOptions& o) { o.strategy.anneal.local_share = 0.5; }},
    {"eps5", "anneal",
     [](TunerOptions& o) {
       o.strategy.anneal.epsilon = {0.05, 0.05, 1};
     }},
    {"alpha0", "anneal", [](TunerOptions& o) { o.strategy.anneal.alpha = 0; }},
};

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.0f}", *value) : "-";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 1;
  const int seeds = std::stoi(argv[1]);
  std::vector<Table> tables;
  for (int i = 3; i < argc; ++i)
    for (Table& table : read_tables(argv[i])) tables.push_back(std::move(table));
  for (const Variant& variant : kVariants) {
    bool wanted = std::string(argv[2]).empty();
    for (const std::string_view name : split(argv[2], ',')) wanted |= name == variant.name;
    if (!wanted) continue;
    for (const Table& table : tables) {
      const Arena arena(table, variant.strategy == "autotvm");
      const RandomBaseline random(table);
      ReplayOptions options;
      options.strategy = variant.strategy;
      options.tuner = tuner_options(variant.strategy);
      variant.change(options.tuner);
      options.trials = 384;
      std::vector<std::vector<double>> searches;
      const auto begin = std::clock();
      for (int seed = 0; seed < seeds; ++seed) {
        options.seed = static_cast<std::uint64_t>(seed);
        searches.push_back(replay(arena, options));
      }
      const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC / seeds;
      const Figures figures = figures_of(searches, random);
      std::string line =
          fmt::format("{:10} {:28.28} ", variant.name, table.kernel.substr(0, 10) + " " + table.device);
      for (const auto& f : figures.fraction)
        line += f ? fmt::format(" {:.3f}/{:.3f}", f->median, f->p10) : "      -     ";
      for (const auto& t : figures.trials_to) line += fmt::format(" {:>5}", number(t));
      fmt::print("{} score {:.3f} {:.1f} s\n", line, figures.score, seconds);
      std::fflush(stdout);
    }
  }
}
