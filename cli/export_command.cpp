// Exports winners to a folder.
#include "cli/export_command.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "api/device_names.h"
#include "cli/help.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"

namespace lehr {

ExportCommand::ExportCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("export", "Write the winners as a library with a function for each workload");
  options_.add<api::ExportOptions>(*command);
  command->get_option("--isa")->description(isa_filter_help());
  switch_flag(*command, kOutputGroup, "--json", json_, "what was done as JSON on stdout");
  command->footer(examples({{"library", "lehr export --out kernels"},
                            {"filters", "lehr export --out product/llama --name llama --target cpu"},
                            {"measuring", "lehr export --out kernels --remeasure"},
                            {"output", "lehr export --db llama.db --out kernels --json"}}));
}

int ExportCommand::run() {
  api::ExportOptions options;
  options.log = environment_.database;
  options = options_.read(std::move(options));
  options.tools = environment_;
  if (options.remeasure) options.stop = &watch_signals();
  options.on_progress = [](const api::Progress& progress) { tell("note: {}", progress.text); };
  const api::Exported exported = api::export_kernels(options);
  if (json_)
    print_json({{"folder", options.out},
                {"kernels", exported.kernels},
                {"functions", exported.functions},
                {"skipped", exported.skipped}});
  else
    fmt::print("{} function{} of {} kernel{} written to {}\n", exported.functions,
               exported.functions == 1 ? "" : "s", exported.kernels, exported.kernels == 1 ? "" : "s",
               options.out);
  return 0;
}

}  // namespace lehr
