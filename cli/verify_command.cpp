#include "cli/verify_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "api/apply.h"
#include "apply/report.h"
#include "apply/verify.h"
#include "base/args.h"
#include "base/error.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "deploy/applied_folder.h"
#include "measure/core/format.h"
#include "measure/system/affinity.h"

namespace lehr {

VerifyCommand::VerifyCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("verify", "Compare a network that `lehr apply` has written with the original");
  problem_.add_to(*command, "FILE");
  value_flag(*command, "Problem", "--out", folder_, "the folder that `lehr apply --out` has written");
  engine_.add_to(*command, "of the engine (those that its kernels are for, else all that are allowed)");
  value_flag(*command, kMeasuringGroup, "--time", time_, "time both in turns for so long: 10s (not at all)");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->footer(
      examples({{"problem", "lehr verify resnet18.onnx --dim batch=1 --out faster"},
                {"measuring", "lehr verify resnet18.onnx --out faster --threads 1 --time 10s"},
                {"output", "lehr verify resnet18.onnx --out faster --json"}},
               "Exit code 4: an output differs by more than the tolerance, or nothing could be compared."));
}

int VerifyCommand::run() {
  if (!problem_.given() || folder_.empty())
    throw_user("lehr verify needs a file and a folder: lehr verify net.onnx --out faster");
  const api::ApplyOptions options = engine_.options(environment_);
  EngineCheck check = api::engine_check(problem_.model(), options);
  const double seconds = time_.empty() ? 0 : parse_duration("--time", time_);
  if (!is_applied_folder(folder_)) throw_user("{} is no folder that `lehr apply` has written", folder_);
  if (check.threads == 0)
    check.threads = threads_of_folder(folder_).value_or(static_cast<int>(allowed_cpus().size()));
  const Network network = problem_.read();
  api::feed(network.model, options, check);
  const bool states_tolerance = take_stated_tolerance(folder_, check);
  const EngineVerdict verdict = try_folder(network, folder_, check, seconds);
  if (verdict.proof == Proof::kNone) throw_environment("{}", verdict.failure);
  const bool right = verdict.proof == Proof::kRight;
  if (json_) {
    print_json({{"model", problem_.file()},
                {"folder", folder_},
                {"engine", verdict.engine},
                {"threads", check.threads},
                {"right", right},
                {"failure", verdict.failure},
                {"worst_difference", verdict.worst},
                {"worst_output", verdict.worst_output},
                {"own_difference", verdict.own},
                {"kernels_compared", verdict.matches.compared},
                {"worst_kernel_difference", verdict.matches.worst},
                {"worst_kernel", verdict.matches.worst_output},
                {"outputs", outputs_json(verdict)},
                {"not_compared", verdict.uncompared},
                {"notes", verdict.notes},
                {"original_us", verdict.original_us},
                {"rewritten_us", verdict.rewritten_us},
                {"speedup", verdict.speedup}});
  } else if (right) {
    fmt::print("ONNX Runtime {}, {} thread{}: {}\n", verdict.engine, check.threads,
               check.threads == 1 ? "" : "s", agreement_text(verdict));
    if (states_tolerance) fmt::print("{}", outputs_text(verdict));
    if (seconds > 0) fmt::print("{}\n", speedup_text(verdict));
  }
  if (right) return 0;
  tell("lehr: {}: {}", folder_, verdict.failure);
  return kCheckFailedCode;
}

}  // namespace lehr
