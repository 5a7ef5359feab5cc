// Prints the workloads of a network's file as a table.
#include "cli/model_command.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "api/list_model.h"
#include "base/error.h"
#include "cli/device_flags.h"
#include "cli/help.h"
#include "cli/standard_streams.h"

namespace lehr {

ModelCommand::ModelCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command = root.add_subcommand("model", "List the workloads of a network in an ONNX file");
  problem_.add_to(*command, "FILE");
  add_device_flags(device_, *command, {"device", "threads", "isa"});
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->footer(examples({{"problem", "lehr model resnet18.onnx --dim batch=1"},
                            {"measuring", "lehr model resnet18.onnx --device cpu"},
                            {"output", "lehr model resnet18.onnx --json"}}));
}

int ModelCommand::run() {
  if (!problem_.given()) throw_user("lehr model needs a file, as lehr model resnet18.onnx");
  api::DeviceOptions device = device_.read<api::DeviceOptions>();
  device.tools = environment_;
  const api::Listing listing = api::list_model(
      problem_.model(), device, [](const api::Progress& each) { tell("note: {}", each.text); },
      environment_.columns);
  fmt::print("{}", json_ ? listing.json + "\n" : listing.text);
  return 0;
}

}  // namespace lehr
