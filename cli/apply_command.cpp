#include "cli/apply_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/lehr.h"
#include "base/args.h"
#include "base/error.h"
#include "cli/help.h"
#include "cli/standard_streams.h"

namespace lehr {
ApplyCommand::ApplyCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("apply", "Write a network that ONNX Runtime runs with a bundle's kernels");
  problem_.add_to(*command, "FILE");
  value_flag(*command, "Problem", "--bundle", bundle_,
             "the folder with kernels that `lehr export` has written");
  value_flag(*command, "Problem", "--precision", precision_, kPrecisionHelp);
  engine_.add_to(
      *command,
      "the kernels tuned for so many (those that the bundle's are for; all that are allowed where they are "
      "for several); right with any number of the engine's");
  value_flag(*command, kMeasuringGroup, "--time", time_,
             "in which ONNX Runtime tries which places pay, at most: 30s, 2m (60s)");
  switch_flag(*command, "Problem", "--no-winograd", no_winograd_,
              "leave to the engine what only a kernel computes that does fewer products, and rounds more");
  switch_flag(*command, kMeasuringGroup, "--no-engine", no_engine_,
              "do not ask ONNX Runtime whether outputs agree and what pays, though it is here");
  value_flag(*command, kOutputGroup, "--out", out_,
             "the folder to write: model.onnx, the plug-in, the kernels");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->footer(
      examples({{"problem", "lehr apply resnet18.onnx --dim batch=1 --bundle kernels.bundle --out faster"},
                {"measuring", "lehr apply resnet18.onnx --bundle kernels.bundle --threads 1 --out faster"},
                {"output", "lehr apply resnet18.onnx --bundle kernels.bundle --out faster --json"}}));
}

int ApplyCommand::run() {
  if (!problem_.given() || bundle_.empty() || out_.empty())
    throw_user(
        "lehr apply needs a file, a bundle and a folder to write: lehr apply net.onnx --bundle "
        "kernels.bundle --out faster");
  api::ApplyOptions options = engine_.options(environment_);
  options.bundle = bundle_;
  options.out = out_;
  options.time_s = parse_duration("--time", time_);
  options.winograd = !no_winograd_;
  options.precision = precision_;
  options.ask_engine = !no_engine_;
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
