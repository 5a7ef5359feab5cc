// File -> table of workloads.
#include "cli/model_command.h"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <map>
#include <nlohmann/json.hpp>

#include "api/sessions.h"
#include "apply/served.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/device_flags.h"
#include "cli/help.h"
#include "cli/standard_streams.h"
#include "measure/core/format.h"

namespace lehr {
namespace {

using nlohmann::json;

/// Reasons, with how many nodes have them and the first of these.
std::map<std::string, std::pair<std::size_t, std::string>> grouped(const Network& network) {
  std::map<std::string, std::pair<std::size_t, std::string>> groups;
  for (const Gap& gap : network.places.gaps) {
    const OnnxNode& node = network.model.nodes[gap.node];
    auto& [count, first] = groups[fmt::format("{}: {}", node.op, gap.reason)];
    if (count++ == 0) first = called(node, gap.node);
  }
  return groups;
}

void print_table(const Network& network, const std::vector<ServedWorkload>& served) {
  std::size_t places = 0;
  double covered = 0;
  std::vector<std::vector<std::string>> cells;
  for (const ServedWorkload& each : served) {
    const auto& [workload, its_places] = *each.placed;
    places += its_places.size();
    if (!each.families.empty()) covered += each.share;
    cells.push_back({std::to_string(its_places.size()), fmt::format("{:.1f} %", 100 * each.share),
                     fmt::format("{:.3f}", flops_of(workload) / 1e9), to_text(workload),
                     each.families.empty() ? "none: " + each.unserved
                                           : fmt::format("{}", fmt::join(each.families, ", "))});
  }
  fmt::print("{} nodes, opset {}, by {}\n", network.model.nodes.size(), network.model.opset(),
             printable(network.model.producer));
  fmt::print("{} workloads in {} places, {:.1f} % of the operations that are known\n\n", served.size(),
             places, 100 * covered);
  if (!served.empty())
    fmt::print("{}", format_table({"places", "share", "GFLOP", "<workload", "<families"}, cells));
  for (const auto& [reason, group] : grouped(network))
    fmt::print("not covered: {} x {}, the first {}\n", group.first, printable(reason),
               printable(group.second));
  for (const std::string& unknown : network.shapes.unknown) fmt::print("not known: {}\n", printable(unknown));
  if (const std::string flags = api::missing_flags(network); !flags.empty())
    fmt::print("say the sizes: {}\n", flags);
}

json document_of(const std::string& file, const Network& network, const std::vector<ServedWorkload>& served) {
  const OnnxModel& model = network.model;
  json tasks = json::array(), gaps = json::array();
  for (const ServedWorkload& each : served) {
    json places = json::array();
    for (const NetworkPlace& place : each.placed->places) {
      json nodes = json::array();
      for (const std::size_t node : place.nodes) nodes.push_back(called(model.nodes[node], node));
      places.push_back({{"nodes", std::move(nodes)}, {"output", place.output}});
    }
    tasks.push_back({{"workload", to_text(each.placed->workload)},
                     {"flops", flops_of(each.placed->workload)},
                     {"share", each.share},
                     {"families", each.families},
                     {"unserved", each.unserved},
                     {"places", std::move(places)}});
  }
  for (const Gap& gap : network.places.gaps)
    gaps.push_back(
        {{"node", called(model.nodes[gap.node], gap.node)}, {"reason", gap.reason}, {"flops", gap.flops}});
  return {{"model", file},
          {"producer", model.producer},
          {"ir_version", model.ir_version},
          {"opset", model.opset()},
          {"nodes", model.nodes.size()},
          {"tasks", std::move(tasks)},
          {"gaps", std::move(gaps)},
          {"unknown", network.shapes.unknown},
          {"missing_sizes", network.shapes.missing_sizes},
          {"warnings", model.warnings}};
}

}  // namespace

ModelCommand::ModelCommand(CLI::App& root, const Environment& environment) : environment_(environment) {
  CLI::App* command = root.add_subcommand("model", "List the workloads of a network in an ONNX file");
  problem_.add_to(*command, "FILE");
  value_flag(*command, kMeasuringGroup, "--device", device_,
             "whose families serve it: auto | cpu | cuda:N (auto)");
  value_flag(*command, kMeasuringGroup, "--threads", threads_,
             "CPU threads that a kernel may use (all that are allowed)");
  value_flag(*command, kMeasuringGroup, "--isa", isa_, isa_help().c_str());
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->footer(examples({{"problem", "lehr model resnet18.onnx --dim batch=1"},
                            {"measuring", "lehr model resnet18.onnx --device cpu"},
                            {"output", "lehr model resnet18.onnx --json"}}));
}

int ModelCommand::run() {
  if (!problem_.given()) throw_user("lehr model needs a file, as lehr model resnet18.onnx");
  const DeviceChoice choice = parse_device(device_, threads_, isa_);
  Network network = problem_.read();
  std::string note;
  std::vector<ServedWorkload> served;
  if (!network.places.workloads.empty()) {
    const Workload& first = network.places.workloads[0].workload;
    const Limits limits = choose_device(choice, first, environment_, false, note).limits;
    network.places = served_places(network, limits);
    served = served_by(network.places, limits);
  }
  if (!note.empty()) tell("note: {}", note);
  if (json_)
    print_json(document_of(problem_.file(), network, served));
  else
    print_table(network, served);
  return 0;
}

}  // namespace lehr
