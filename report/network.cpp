#include "report/network.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include "base/describe_json.h"
#include "base/error.h"
#include "base/text_file.h"
#include "deploy/applied_folder.h"
#include "workload/short_text.h"

namespace lehr::report {
namespace {

using nlohmann::json;

/// Returns the position of the last timed task for the workload, which is in the newest log that has one.
std::optional<std::size_t> task_of(const std::string& workload, const std::vector<Task>& tasks) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    if (tasks[i].workload == workload && tasks[i].best.us > 0) found = i;
  return found;
}

/// Returns the times that the logs have for one match with this workload. Values are null if they are not
/// known.
json times_of(const std::string& workload, const std::vector<Task>& tasks) {
  const std::optional<std::size_t> at = task_of(workload, tasks);
  json task = at ? tasks[*at].reported : json::object({{"winner", json::object()}});
  json& winner = task["winner"];
  return {{"workload", workload},
          {"short", short_text(workload)},
          {"task", at},
          {"best_us", winner["time_us"]},
          {"default_us", task["default_us"]},
          {"library_us", winner["baseline_us"]},
          {"library", winner["baseline"]}};
}

json matches_of(const json& layers, const std::vector<Task>& tasks) {
  std::map<std::string, json> by_workload;
  for (const json& layer : layers) {
    if (!layer.at("workload").is_string()) continue;
    json& match = by_workload[layer.at("workload")];
    if (match.is_null()) match = times_of(layer.at("workload"), tasks);
    match["occurrences"] = match.value("occurrences", 0) + 1;
    match["kernels"] = match.value("kernels", 0) + layer.at("kernel").get<bool>();
    for (const char* us : {"before_us", "after_us"})
      match[us] = match.value(us, 0.0) + layer.at(us).get<double>();
  }
  std::vector<json> matches;
  for (auto& [workload, match] : by_workload) matches.push_back(std::move(match));
  std::ranges::stable_sort(matches, std::ranges::greater{},
                           [](const json& each) { return each["before_us"].get<double>(); });
  return matches;
}

}  // namespace

json read_network(const std::string& folder, const std::vector<Task>& tasks) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const std::filesystem::path file = std::filesystem::path(folder) / kAppliedDocument;
  if (!std::filesystem::is_regular_file(file))
    throw_user("--applied {}: it has no {}, so no lehr apply or lehr optimize of this version wrote it",
               folder, kAppliedDocument);
  try {
    json network = json::parse(read_text_file(file.string(), kMostBytes, "document"));
    network["matches"] = matches_of(network.at("layers").get<std::vector<json>>(), tasks);
    for (const char* name : {"original_us", "rewritten_us", "places", "replaced"})
      network.at(name).get<double>();
    network.at("model").get<std::string>();
    network.at("reasons").get<std::map<std::string, double>>();
    for (const json& each : network.at("not_covered").get<std::vector<json>>())
      if (!each.at("operator").is_string() || !each.at("share").is_number()) each.get<double>();
    return network;
  } catch (const json::exception&) {
    throw_user("--applied {}: its {} is not as lehr apply writes it", folder, kAppliedDocument);
  }
}

}  // namespace lehr::report
