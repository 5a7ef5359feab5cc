// Winners -> folder.
#include "cli/export_command.h"

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "api/device_names.h"
#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"

namespace lehr {
namespace {

/// "m=1,16,64" or "m=1,16 n=8".
std::map<std::string, std::vector<std::int64_t>> parse_buckets(const std::string& text) {
  std::map<std::string, std::vector<std::int64_t>> buckets;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw_user("--buckets {}: '{}' is no field with its sizes, such as m=1,16,64", text, word);
    buckets[std::string(word.substr(0, equals))] = parse_sizes("--buckets", word.substr(equals + 1));
  }
  return buckets;
}

}  // namespace

ExportCommand::ExportCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command =
      root.add_subcommand("export", "Write the winners as a folder that a program links, loads or compiles");
  filter_.add_to(*command);
  value_flag(*command, "Filters", "--isa", isa_, isa_filter_help().c_str());
  value_flag(*command, kOutputGroup, "--db", database_, "the trial log (./lehr.db, or LEHR_DB)");
  value_flag(*command, kOutputGroup, "--out", out_,
             "the folder to write; an old one is replaced in one step");
  value_flag(*command, kOutputGroup, "--buckets", buckets_,
             "sizes that may serve smaller ones with padding: m=1,16,64 (none)");
  switch_flag(
      *command, kOutputGroup, "--embed", embed_,
      "the folder has sources, for builds that take no binaries, with how each CUDA kernel is launched");
  switch_flag(*command, kMeasuringGroup, "--remeasure", remeasure_,
              "check and time winners that cannot be made again as they were measured, as this version makes "
              "them, where their device is at hand");
  switch_flag(*command, kOutputGroup, "--json", json_, "what was done as JSON on stdout");
  command->footer(examples({{"filters", "lehr export --out kernels --target cpu"},
                            {"folder", "lehr export --out product/kernels --target cpu --buckets m=1,16"},
                            {"sources", "lehr export --out third_party/kernels --target cpu --embed"},
                            {"measuring", "lehr export --out kernels --remeasure"},
                            {"output", "lehr export --db llama.db --out kernels --json"}}));
}

int ExportCommand::run() {
  if (out_.ends_with(".json"))
    throw_user("--out {} is no folder: name one; with --embed it has the sources and how they are launched",
               out_);
  api::ExportOptions options;
  options.log = database_;
  options.out = out_;
  const RecordFilter filter = filter_.filter();
  std::tie(options.workload, options.device, options.target, options.family) =
      std::tie(filter.workload, filter.device, filter.target, filter.family);
  options.isa = isa_;
  options.buckets = parse_buckets(buckets_);
  options.embed = embed_;
  options.remeasure = remeasure_;
  options.tools = environment_;
  if (remeasure_) options.stop = &watch_signals();
  options.on_progress = [](const api::Progress& progress) { tell("note: {}", progress.text); };
  const api::Exported exported = api::export_kernels(options);
  if (json_)
    print_json({{"folder", out_},
                {"kernels", exported.kernels},
                {"sets", exported.sets},
                {"skipped", exported.skipped}});
  else
    fmt::print("{} kernel{} written to {}\n", exported.kernels, exported.kernels == 1 ? "" : "s", out_);
  return 0;
}

}  // namespace lehr
