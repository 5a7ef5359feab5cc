#include "cli/apply_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "apply/apply.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "deploy/applied_folder.h"
#include "measure/core/format.h"
#include "measure/host/host_backend.h"

namespace lehr {
namespace {

using nlohmann::json;

json document_of(const std::string& file, const std::string& out, const Applied& applied) {
  const EngineVerdict& verdict = applied.verdict;
  return {{"model", file},
          {"folder", out},
          {"places", applied.places},
          {"with_kernels", applied.with_kernels},
          {"replaced", applied.replaced},
          {"share_of_flops", applied.share_of_flops},
          {"expected_us", applied.expected_us},
          {"prepacked_bytes", applied.prepacked_bytes},
          {"reasons", applied.reasons},
          {"engine", verdict.engine},
          {"original_us", verdict.original_us},
          {"rewritten_us", verdict.rewritten_us},
          {"speedup", verdict.speedup},
          {"without_winograd_us", applied.without_saving_us},
          {"worst_difference", verdict.worst},
          {"own_difference", verdict.own},
          {"not_compared", verdict.uncompared},
          {"notes", verdict.notes},
          {"not_verified", verdict.failure}};
}

void print_engine(const Applied& applied) {
  const EngineVerdict& verdict = applied.verdict;
  if (verdict.proof != Proof::kRight) {
    fmt::print("not verified: {}\n", printable(verdict.failure));
    return;
  }
  fmt::print("ONNX Runtime {}: {}\n", verdict.engine, agreement_text(verdict));
  if (verdict.speedup > 0) fmt::print("{}\n", speedup_text(verdict));
  if (applied.without_saving_us > 0)
    fmt::print("without Winograd's kernels, which do fewer products and round more: {}\n",
               format_time_us(applied.without_saving_us));
}

void print_result(const std::string& out, const Applied& applied) {
  fmt::print(
      "{} of {} convolutions and products by kernels, {:.1f} % of the operations that are known: {} "
      "expected\n",
      applied.replaced, applied.places, 100 * applied.share_of_flops, format_time_us(applied.expected_us));
  if (applied.prepacked_bytes > 0)
    fmt::print("{:.1f} MB of prepacked weights beside the model's own\n",
               static_cast<double>(applied.prepacked_bytes) / 1e6);
  for (const auto& [reason, count] : applied.reasons)
    fmt::print("left to the engine: {} x {}\n", count, printable(reason));
  if (const std::size_t removed = applied.with_kernels - applied.replaced; removed > 0)
    fmt::print("left to the engine: {} x the model is faster so, though there is a kernel\n", removed);
  if (applied.with_kernels > 0) print_engine(applied);
  if (applied.replaced == 0) fmt::print("nothing gains: the model is written as it was\n");
  fmt::print("written to {}\n", out);
}

}  // namespace

ApplyCommand::ApplyCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("apply", "Write a network that ONNX Runtime runs with a bundle's kernels");
  problem_.add_to(*command, "FILE");
  value_flag(*command, "Problem", "--bundle", bundle_,
             "the folder with kernels that `lehr export` has written");
  engine_.add_to(
      *command,
      "the kernels tuned for so many (all that are allowed); right with any number of the engine's");
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
  ApplyRequest request;
  request.bundle = bundle_;
  request.saving_products = !no_winograd_;
  request.ask = !no_engine_;
  request.check = engine_.check(problem_, environment_, request.ask);
  request.seconds = parse_duration("--time", time_);
  request.scratch = environment_.scratch;
  check_replaceable(out_, &applied_own_files);
  if (leads_into(problem_.file(), out_))
    throw_user("{} would be replaced, and {} lies in it: name another folder", out_, problem_.file());
  const Network network = problem_.read();
  engine_.feed(network.model, request.check);
  request.compiler = host_compiler_options(environment_);
  Applied applied = apply(network, request, [](const std::string& text) { tell("{}", text); });
  if (no_engine_) applied.verdict.failure = "--no-engine";
  if (applied.files.empty()) {
    tell("lehr: {}: {}; nothing is written{}", problem_.file(), applied.verdict.failure,
         applied.verdict.proof == Proof::kOpen
             ? " (--feed gives real inputs, --no-engine does without the check)"
             : "");
    return kCheckFailedCode;
  }
  write_folder(out_, applied.files, &applied_own_files);
  if (json_)
    print_json(document_of(problem_.file(), out_, applied));
  else
    print_result(out_, applied);
  return 0;
}

}  // namespace lehr
