#include "cli/optimize_command.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/args.h"
#include "base/error.h"
#include "cli/engine_flags.h"
#include "cli/help.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "measure/system/affinity.h"

namespace lehr {

OptimizeCommand::OptimizeCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command = root.add_subcommand(
      "optimize", "Tune a network's kernels for this CPU, and write it for ONNX Runtime with them");
  model_.add_to(*command, "FILE");
  value_flag(*command, "Problem", "--precision", precision_, kPrecisionHelp);
  value_flag(*command, kSearchGroup, "--time", time_, "for all of it: 60s, 5m (5m)");
  value_flag(*command, kSearchGroup, "--seed", seed_, "same seed and same log: same picks (0)");
  value_flag(*command, kMeasuringGroup, "--threads", threads_,
             "CPU threads that the network is to run with (all that are allowed)");
  value_flag(*command, kMeasuringGroup, "--tolerance", tolerance_, kToleranceHelp);
  value_flag(*command, kMeasuringGroup, "--feed", feed_, kFeedHelp);
  value_flag(*command, kOutputGroup, "--out", out_,
             "the folder to write: model.onnx, the plug-in, the kernels (faster)");
  value_flag(*command, kOutputGroup, "--db", database_,
             "the trial log; earlier rows are reused (./lehr.db, or LEHR_DB)");
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
  const auto cpus = static_cast<std::int64_t>(allowed_cpus().size());
  ProgressPrinter progress(progress_style(progress_, quiet_));
  api::OptimizeOptions options;
  options.out = out_;
  options.log = database_;
  if (!threads_.empty()) options.threads = static_cast<int>(parse_number("--threads", threads_, 1, cpus));
  options.time_s = parse_duration("--time", time_);
  if (!tolerance_.empty()) options.tolerance = parse_share("--tolerance", tolerance_);
  options.precision = precision_;
  options.feed = feed_;
  options.seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX));
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
