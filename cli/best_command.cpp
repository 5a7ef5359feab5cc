#include "cli/best_command.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "api/best.h"
#include "cli/help.h"

namespace lehr {

BestCommand::BestCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("best", "Show the fastest known kernel of each workload and how it was found");
  options_.add<api::BestOptions>(*command);
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON array on stdout");
  command->footer(examples({{"filters", "lehr best --family gemm_cpu --workload \"gemm m=512 n=512 k=512\""},
                            {"output", "lehr best --db llama.db --json"}}));
}

int BestCommand::run() {
  api::BestOptions options;
  options.log = environment_.database;
  const api::Listing best = api::list_best(options_.read(std::move(options)));
  fmt::print("{}", json_ ? best.json + "\n" : best.text);
  return 0;
}

}  // namespace lehr
