#include "cli/verify_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "cli/args.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "cli/table.h"
#include "deploy/applied_folder.h"

namespace lehr {

using onnxruntime::ModelTrial;
using onnxruntime::TrialReport;

VerifyCommand::VerifyCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  app_ = root.add_subcommand("verify", "Compare a network that `lehr apply` has written with the original");
  problem_.add_to(*app_, "FILE");
  value_flag(*app_, "Problem", "--out", folder_, "the folder that `lehr apply --out` has written");
  engine_.add_to(*app_, "of the engine (all that are allowed)");
  value_flag(*app_, kMeasuringGroup, "--time", time_, "time both in turns for so long: 10s (not at all)");
  switch_flag(*app_, kOutputGroup, "--json", json_, "one JSON document on stdout");
  app_->footer(
      examples({{"problem", "lehr verify resnet18.onnx --dim batch=1 --out faster"},
                {"measuring", "lehr verify resnet18.onnx --out faster --threads 1 --time 10s"},
                {"output", "lehr verify resnet18.onnx --out faster --json"}},
               "Exit code 4: an output differs by more than the tolerance, or nothing could be compared."));
}

bool VerifyCommand::chosen() const {
  return app_->parsed();
}

int VerifyCommand::run() {
  if (!problem_.given() || folder_.empty())
    throw_user("lehr verify needs a file and a folder: lehr verify net.onnx --out faster");
  EngineCheck check = engine_.check(problem_, environment_, true);
  const double seconds = time_.empty() ? 0 : parse_duration("--time", time_);
  if (!is_applied_folder(folder_)) throw_user("{} is no folder that `lehr apply` has written", folder_);
  const ModelProblem problem = problem_.read();
  const std::string original = std::filesystem::absolute(problem_.file()).string();
  engine_.feed(problem.model, check);
  const TrialReport report = try_folder(problem.model, problem.shapes, original, folder_, check, seconds);
  const Proof proof = proof_of(report);
  const std::string wrong = why_unproved(report);
  if (proof == Proof::kNone) throw_environment("{}", wrong);
  const bool right = proof == Proof::kRight;
  std::vector<ModelTrial> models = report.models;
  models.resize(2);  // there are none where the engine died
  const ModelTrial &first = models[0], &rewritten = models[1];
  if (json_) {
    print_json({{"model", problem_.file()},
                {"folder", folder_},
                {"engine", report.version},
                {"right", right},
                {"failure", wrong},
                {"worst_difference", rewritten.worst},
                {"worst_output", rewritten.worst_output},
                {"own_difference", report.own},
                {"not_compared", report.uncompared},
                {"notes", report.notes},
                {"original_us", onnxruntime::median_us(first)},
                {"rewritten_us", onnxruntime::median_us(rewritten)},
                {"speedup", onnxruntime::speedup(rewritten, first)}});
  } else if (right) {
    fmt::print(
        "ONNX Runtime {}, {} thread{}: {}\n", report.version, check.threads, check.threads == 1 ? "" : "s",
        agreement_text({rewritten.worst, report.own, check.tolerance, report.uncompared, report.notes}));
    if (seconds > 0)
      fmt::print("original {}, rewritten {}: {}\n", format_time_us(onnxruntime::median_us(first)),
                 format_time_us(onnxruntime::median_us(rewritten)),
                 format_ratio(onnxruntime::speedup(rewritten, first)));
  }
  if (right) return 0;
  tell("lehr: {}: {}", folder_, wrong);
  return kCheckFailedCode;
}

}  // namespace lehr
