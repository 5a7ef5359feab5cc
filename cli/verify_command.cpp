#include "cli/verify_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "api/verify.h"
#include "base/error.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/standard_streams.h"

namespace lehr {

VerifyCommand::VerifyCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command =
      root.add_subcommand("verify", "Compare a network that `lehr apply` has written with the original");
  problem_.add_to(*command, "FILE");
  options_.add<api::VerifyOptions>(*command);
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->footer(
      examples({{"problem", "lehr verify resnet18.onnx --dim batch=1 --out faster"},
                {"measuring", "lehr verify resnet18.onnx --out faster --threads 1 --time 10s"},
                {"output", "lehr verify resnet18.onnx --out faster --json"}},
               "Exit code 4: an output differs by more than the tolerance, or nothing could be compared."));
}

int VerifyCommand::run() {
  api::VerifyOptions options = options_.read<api::VerifyOptions>();
  if (!problem_.given() || options.out.empty())
    throw_user("lehr verify needs a file and a folder: lehr verify net.onnx --out faster");
  options.tools = environment_;
  options.on_progress = [](const api::Progress& progress) { tell("note: {}", progress.text); };
  const api::Verified verified = api::verify(problem_.model(), options);
  fmt::print("{}", json_ ? verified.json + "\n" : verified.text);
  if (verified.right) return 0;
  tell("lehr: {}: {}", options.out, verified.failure);
  return kCheckFailedCode;
}

}  // namespace lehr
