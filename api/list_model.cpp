// Lists the workloads of a network's file.
#include "api/list_model.h"

#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "api/device_names.h"
#include "api/sessions.h"
#include "apply/served.h"
#include "base/text.h"
#include "measure/core/format.h"
#include "workload/short_text.h"

namespace lehr::api {
namespace {

using nlohmann::json;

/// Groups gaps by reason. The result has for each reason the number of nodes and the name of the first node.
std::map<std::string, std::pair<std::size_t, std::string>> grouped(const Network& network) {
  std::map<std::string, std::pair<std::size_t, std::string>> groups;
  for (const Gap& gap : network.matches.gaps) {
    const OnnxNode& node = network.model.nodes[gap.node];
    auto& [count, first] = groups[fmt::format("{}: {}", node.op, gap.reason)];
    if (count++ == 0) first = called(node, gap.node);
  }
  return groups;
}

std::string text_of(const Network& network, const std::vector<ServedWorkload>& served, std::size_t width) {
  std::size_t matches = 0;
  double covered = 0;
  std::vector<std::vector<std::string>> cells;
  for (const ServedWorkload& each : served) {
    const auto& [workload, its_matches] = *each.matched;
    matches += its_matches.size();
    if (!each.families.empty()) covered += each.share;
    cells.push_back({std::to_string(its_matches.size()), fmt::format("{:.1f} %", 100 * each.share),
                     fmt::format("{:.3f}", flops_of(workload) / 1e9), short_text(workload),
                     each.families.empty() ? "none: " + each.unserved
                                           : fmt::format("{}", fmt::join(each.families, ", "))});
  }
  std::string text = fmt::format("{} nodes, opset {}, by {}\n", network.model.nodes.size(),
                                 network.model.opset(), printable(network.model.producer));
  text += fmt::format("{} workloads in {} places, {:.1f} % of the operations that are known\n\n",
                      served.size(), matches, 100 * covered);
  if (!served.empty())
    text += format_table({"places", "share", "GFLOP", "<workload", "<families"}, cells, {.width = width});
  for (const auto& [reason, group] : grouped(network))
    text += fmt::format("not covered: {} x {}, the first {}\n", group.first, printable(reason),
                        printable(group.second));
  for (const std::string& unknown : network.shapes.unknown)
    text += fmt::format("not known: {}\n", printable(unknown));
  if (const std::string flags = missing_flags(network); !flags.empty())
    text += fmt::format("say the sizes: {}\n", flags);
  return text;
}

json document_of(const std::string& file, const Network& network, const std::vector<ServedWorkload>& served) {
  const OnnxModel& model = network.model;
  json tasks = json::array(), gaps = json::array();
  for (const ServedWorkload& each : served) {
    json matches = json::array();
    for (const Match& match : each.matched->matches) {
      json nodes = json::array();
      for (const std::size_t node : match.nodes) nodes.push_back(called(model.nodes[node], node));
      matches.push_back({{"nodes", std::move(nodes)}, {"outputs", outputs_of(match)}});
    }
    tasks.push_back({{"workload", to_text(each.matched->workload)},
                     {"flops", flops_of(each.matched->workload)},
                     {"share", each.share},
                     {"families", each.families},
                     {"unserved", each.unserved},
                     {"places", std::move(matches)}});
  }
  for (const Gap& gap : network.matches.gaps)
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

Listing list_model(const NetworkFile& model, const DeviceOptions& options, const OnProgress& on_note,
                   std::size_t width) {
  return guarded([&] {
    check(options);
    const DeviceChoice choice = choice_of(options);
    Reporter reporter(on_note);
    Network network = read_network(model, reporter);
    std::vector<ServedWorkload> served;
    std::string note;
    if (!network.matches.workloads.empty()) {
      const Workload& first = network.matches.workloads[0].workload;
      const Limits limits = choose_device(choice, first, options.tools, false, note).limits;
      network.matches = served_matches(network, limits);
      served = served_by(network.matches, limits);
    }
    if (!note.empty()) reporter.note(note);
    return Listing{text_of(network, served, width), dumped(document_of(model.file, network, served))};
  });
}

}  // namespace lehr::api
