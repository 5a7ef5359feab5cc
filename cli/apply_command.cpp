#include "cli/apply_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/help.h"
#include "cli/standard_streams.h"

namespace lehr {
ApplyCommand::ApplyCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("apply", "Write a network that ONNX Runtime runs with a bundle's kernels");
  problem_.add_to(*command, "FILE");
  options_.add<api::ApplyOptions>(*command);
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->footer(
      examples({{"problem", "lehr apply resnet18.onnx --dim batch=1 --bundle kernels.bundle --out faster"},
                {"measuring", "lehr apply resnet18.onnx --bundle kernels.bundle --threads 1 --out faster"},
                {"output", "lehr apply resnet18.onnx --bundle kernels.bundle --out faster --json"}}));
}

int ApplyCommand::run() {
  api::ApplyOptions options = options_.read<api::ApplyOptions>();
  if (!problem_.given() || options.bundle.empty() || options.out.empty())
    throw_user(
        "lehr apply needs a file, a bundle and a folder to write: lehr apply net.onnx --bundle "
        "kernels.bundle --out faster");
  options.tools = environment_;
  options.on_progress = [](const api::Progress& progress) {
    tell("{}{}", progress.kind == api::Progress::Kind::kNote ? "note: " : "", progress.text);
  };
  const api::Applied applied = api::apply(problem_.model(), options);
  if (!applied.failure.empty())
    tell("lehr: {}{}", applied.failure,
         applied.uncompared ? " (--feed gives real inputs, --no-engine does without the check)" : "");
  if (applied.code == api::Code::kDone) fmt::print("{}", json_ ? applied.json + "\n" : applied.text);
  return static_cast<int>(applied.code);
}

}  // namespace lehr
