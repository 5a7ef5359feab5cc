#include "cli/best_command.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <vector>

#include "api/best.h"
#include "base/args.h"
#include "base/error.h"
#include "cli/help.h"

namespace lehr {

BestCommand::BestCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("best", "Show the fastest known kernel of each workload and how it was found");
  options_.add<api::BestOptions>(*command);
  value_flag(*command, kOutputGroup, "--format", format_,
             "table | csv | markdown: how stdout looks; csv has all figures, times in microseconds (table)");
  switch_flag(
      *command, kOutputGroup, "--wide", wide_,
      "all columns and whole texts, as where stdout is no terminal; else a table keeps to the width of "
      "the terminal, or to COLUMNS, and leaves out what a workload has as usual");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON array on stdout");
  command->footer(examples({{"filters", "lehr best --family gemm_cpu --workload \"gemm m=512 n=512 k=512\""},
                            {"output", "lehr best --sort speedup --limit 10"},
                            {"", "lehr best --db llama.db --format csv"}}));
}

int BestCommand::run() {
  api::BestOptions options;
  options.log = environment_.database;
  const std::vector<std::string> formats = {"table", "csv", "markdown"};
  const auto format = std::ranges::find(formats, parse_choice("--format", format_, formats));
  if (json_ && format_ != "table") throw_user("--json and --format {} exclude each other", format_);
  api::BestLook look;
  look.format = static_cast<decltype(look.format)>(format - formats.begin());
  look.width = environment_.columns;
  look.wide = wide_ || look.width == 0;
  look.colour = environment_.colour;
  const api::Listing best = api::list_best(options_.read(std::move(options)), look);
  fmt::print("{}", json_ ? best.json + "\n" : best.text);
  return 0;
}

}  // namespace lehr
