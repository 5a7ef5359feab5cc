// Reads flags and tables, and shows progress.
#include "cli/replay_command.h"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/args.h"
#include "base/error.h"
#include "base/file_output.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/replay_report.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "measure/core/format.h"
#include "replay/read_table.h"

namespace lehr {
namespace {

std::vector<Table> read_all(const std::vector<std::string>& files, bool quiet) {
  std::vector<Table> tables;
  for (const std::string& file : files) {
    for (Table& table : read_tables(file)) {
      if (!quiet)
        for (const std::string& note : table.notes) tell("note: {}: {}", file, note);
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

}  // namespace

ReplayCommand::ReplayCommand(CLI::App& root, const Environment&) {
  CLI::App* command =
      root.add_subcommand("replay", "Run a search strategy on recorded tables, without measuring anything");
  command
      ->add_option("TABLE", tables_, "Kernel Tuner caches (.json, plain or gzipped), or logs of lehr (.db)")
      ->option_text("...");
  const auto add = [&](const char* name, std::string& value, const char* help) {
    value_flag(*command, kSearchGroup, name, value, help);
  };
  add("--strategy", strategy_,
      "anneal | random | autotvm (anneal, the one of tune); autotvm: AutoTVM's settings");
  add("--trials", trials_, "length of each search (256)");
  add("--seeds", seeds_, "searches per table (10)");
  add("--seed", seed_, "the first seed (0)");
  command
      ->add_option("--transfer", transfer_,
                   "tables to learn from first, but for a recording of the same kernel and device")
      ->group(kSearchGroup)
      ->option_text("...");
  value_flag(*command, kOutputGroup, "--plot", plot_, "write the curves to this file, comma-separated");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout; times in microseconds");
  switch_flag(*command, kOutputGroup, "--quiet", quiet_, "no progress on stderr");
  command->footer(examples({{"search", "lehr replay lehr.db --strategy autotvm --seeds 5"},
                            {"", "lehr replay gemm_A100.json --transfer gemm_V100.json gemm_P100.json"},
                            {"output", "lehr replay gemm_A100.json.gz --plot curves.csv --json"}}));
}

ReplayPlan ReplayCommand::plan() const {
  ReplayPlan plan;
  plan.options.strategy = parse_strategy(strategy_);
  plan.options.trials = static_cast<std::size_t>(parse_number("--trials", trials_, 1, 1'000'000));
  plan.options.seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX / 2));
  plan.seeds = static_cast<std::size_t>(parse_number("--seeds", seeds_, 1, 10'000));
  if (tables_.empty()) throw_user("a table is missing: write lehr replay FILE...");
  return plan;
}

void ReplayCommand::write_plot(const std::vector<TableReport>& reports) const {
  write_file(plot_, replay_plot(reports));
}

int ReplayCommand::run() {
  ReplayPlan plan = this->plan();
  const std::vector<Table> tables = read_all(tables_, quiet_);
  const std::vector<Table> sources = read_all(transfer_, quiet_);
  for (const Table& source : sources) plan.transfer.push_back(&source);
  const std::atomic<bool>& interrupted = watch_signals();
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const std::vector<TableReport> reports =
      replay_tables(tables, plan, [&](std::size_t done, std::size_t total) {
        if (!quiet_ && (terminal || done % plan.seeds == 0))
          write_to_stderr(fmt::format("{}{} of {} searches{}", terminal ? "\r" : "", done, total,
                                      terminal && done < total ? "" : "\n"));
        return !interrupted;
      });
  if (interrupted) return kInterruptedCode;
  if (!plot_.empty()) write_plot(reports);
  if (json_)
    print_json(replay_json(reports, plan));
  else
    fmt::print("{}", replay_text(reports, plan));
  return 0;
}

}  // namespace lehr
