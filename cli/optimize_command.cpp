#include "cli/optimize_command.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"

namespace lehr {

OptimizeCommand::OptimizeCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command = root.add_subcommand(
      "optimize", "Tune a network's kernels for this CPU, and write it for ONNX Runtime with them");
  model_.add_to(*command, "FILE");
  options_.add<api::OptimizeOptions>(*command);
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  value_flag(*command, kOutputGroup, "--progress", progress_, kProgressHelp);
  switch_flag(*command, kOutputGroup, "--quiet", quiet_, "no progress on stderr: --progress none");
  command->footer(examples(
      {{"problem", "lehr optimize resnet18.onnx --dim batch=1"},
       {"search", "lehr optimize resnet18.onnx --dim batch=1 --time 10m"},
       {"measuring", "lehr optimize resnet18.onnx --dim batch=1 --threads 1"},
       {"output", "lehr optimize resnet18.onnx --dim batch=1 --out faster --json"}},
      "The same as lehr tune --model, lehr export and lehr apply, one after the other. Ctrl-C ends it "
      "with exit code 130; the log has what was measured, and the next run goes on from there."));
}

int OptimizeCommand::run() {
  if (!model_.given()) throw_user("lehr optimize needs a file: lehr optimize net.onnx --dim batch=1");
  ProgressPrinter progress(progress_style(progress_, quiet_));
  api::OptimizeOptions options;
  options.log = environment_.database;
  options = options_.read(std::move(options));
  options.tools = environment_;
  options.stop = &watch_signals();
  options.on_progress = [&](const api::Progress& each) { progress.show(each); };
  const api::Optimized result = api::optimize(model_.model(), options);
  progress.finish();
  if (!result.json.empty()) fmt::print("{}", json_ ? result.json + "\n" : result.text);
  if (!result.failure.empty() && result.code != api::Code::kInterrupted) tell("lehr: {}", result.failure);
  return static_cast<int>(result.code);
}

}  // namespace lehr
