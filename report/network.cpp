#include "report/network.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/text_file.h"
#include "deploy/applied_folder.h"
#include "workload/short_text.h"

namespace lehr::report {
namespace {

using nlohmann::json;

/// The newest of the tasks that compute it.
std::optional<std::size_t> task_of(const std::string& workload, const std::vector<Task>& tasks) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const bool newer =
        !found || tasks[i].sessions.back().began_unix_ms >= tasks[*found].sessions.back().began_unix_ms;
    if (tasks[i].workload == workload && tasks[i].best.us > 0 && newer) found = i;
  }
  return found;
}

void take_times(const Task& task, Match& match) {
  match.best_us = task.best.us;
  match.default_us = task.default_time.us;
  for (const Library& library : task.libraries) {
    if (library.time.us <= 0 || (match.library_us > 0 && library.time.us >= match.library_us)) continue;
    match.library_us = library.time.us;
    match.library = library.name;
  }
}

std::vector<Match> matches_of(const json& layers, const std::vector<Task>& tasks) {
  std::vector<Match> matches;
  for (const json& layer : layers) {
    if (!layer.at("workload").is_string()) continue;
    const std::string workload = layer.at("workload");
    auto match = std::ranges::find(matches, workload, &Match::workload);
    if (match == matches.end()) {
      match = matches.insert(match, {.workload = workload, .short_text = short_text(workload)});
      match->task = task_of(workload, tasks);
      if (match->task) take_times(tasks[*match->task], *match);
    }
    ++match->occurrences;
    match->kernels += layer.at("kernel").get<bool>();
    match->before_us += layer.at("before_us").get<double>();
    match->after_us += layer.at("after_us").get<double>();
  }
  std::ranges::stable_sort(matches, std::ranges::greater{}, &Match::before_us);
  return matches;
}

std::vector<Part> coverage_of(const json& applied) {
  std::vector<Part> parts;
  if (!applied.at("covered_share").is_number()) return parts;
  parts.push_back({"by kernels", applied.at("covered_share")});
  for (const json& each : applied.at("not_covered")) parts.push_back({each.at("operator"), each.at("share")});
  return parts;
}

}  // namespace

void to_json(json& document, const Network& network) {
  document = network.applied;
  document["matches"] = network.matches;
}

Network read_network(const std::string& folder, const std::vector<Task>& tasks) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;
  const std::filesystem::path file = std::filesystem::path(folder) / kAppliedDocument;
  if (!std::filesystem::is_regular_file(file))
    throw_user("--applied {}: it has no {}, so no lehr apply or lehr optimize of this version wrote it",
               folder, kAppliedDocument);
  try {
    Network network;
    network.applied = json::parse(read_text_file(file.string(), kMostBytes, "document"));
    network.matches = matches_of(network.applied.at("layers"), tasks);
    network.coverage = coverage_of(network.applied);
    for (const char* name : {"original_us", "rewritten_us", "places", "replaced"})
      network.applied.at(name).get<double>();
    return network;
  } catch (const json::exception&) {
    throw_user("--applied {}: its {} is not as lehr apply writes it", folder, kAppliedDocument);
  }
}

}  // namespace lehr::report
