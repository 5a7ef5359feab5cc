// A network's convolutions and products, in turns.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

#include "api/model_report.h"
#include "api/sessions.h"
#include "apply/rewrite.h"
#include "apply/served.h"
#include "base/args.h"
#include "base/text.h"
#include "measure/core/format.h"
#include "tune/many_tasks.h"

namespace lehr::api {

Network read_network(const Model& model, Reporter& reporter) {
  check_model(model);
  Network network;
  network.model = read_onnx(model.file);
  if (network.model.opsets.contains(kFusedDomain))
    throw_user("{} is a network that `lehr apply` has written: name the original; `lehr verify` takes both",
               model.file);
  for (const std::string& warning : network.model.warnings)
    reporter.note(fmt::format("{}: {}", model.file, warning));
  network.shapes = infer_shapes(network.model, {model.dims, model.inputs});
  network.places = places_of(network.model, network.shapes);
  return network;
}

std::string missing_flags(const Network& network) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) || std::strchr("_-./:=?", c) != nullptr;
  };
  std::string text;
  for (const std::string& flag : network.shapes.missing_sizes) {
    const std::size_t space = flag.find(' ');
    const std::string value = flag.substr(space + 1);
    text += (text.empty() ? "" : " ") + flag.substr(0, space + 1) +
            (std::ranges::all_of(value, is_plain) ? value : shell_quoted(value));
  }
  return printable(text);
}

std::string missing_sizes_text(const Network& network) {
  const std::string flags = missing_flags(network);
  return flags.empty() ? "" : "sizes of inputs are not known: say them with " + flags;
}

void check_tunable(const Model& model, const Network& network) {
  if (!network.places.workloads.empty()) return;
  const std::string sizes = missing_sizes_text(network);
  throw_user("{} has no convolution and no product that could be tuned{}", model.file,
             sizes.empty() ? "" : "; " + sizes);
}

std::string flags_of(const Model& model) {
  std::string text = shell_quoted(model.file);
  for (const auto& [name, size] : model.dims)
    text += " --dim " + shell_quoted(fmt::format("{}={}", name, size));
  for (const auto& [name, sizes] : model.inputs)
    text += " --input " + shell_quoted(fmt::format("{}={}", name, fmt::join(sizes, "x")));
  return text;
}

namespace {

constexpr double kSecondsEach = 10;

/// The same work in bf16, behind the task of f32.
void add_narrow(const PlacedWorkload& placed, const NarrowWorkloads& narrow, std::vector<SharedTask>& tasks) {
  const std::size_t first = tasks.size();
  for (const NetworkPlace& place : placed.places) {
    const auto found = narrow.find(&place);
    if (found == narrow.end()) continue;
    const auto known = std::find_if(tasks.begin() + static_cast<std::ptrdiff_t>(first), tasks.end(),
                                    [&](const SharedTask& task) { return task.workload == found->second; });
    if (known != tasks.end())
      known->occurrences += 1;
    else
      tasks.push_back({.workload = found->second, .instead_of = first - 1});
  }
}

std::vector<SharedTask> tasks_of(const Network& network, const Model& model, const Limits& limits,
                                 bool is_narrow, Reporter& reporter) {
  check_tunable(model, network);
  NarrowWorkloads narrow;
  if (is_narrow) narrow = narrow_places(network, network.places, limits);
  std::vector<SharedTask> tasks;
  for (const PlacedWorkload& placed : network.places.workloads) {
    if (lehr::why_not_served(placed.workload, limits,
                             [&](const std::string& reason) { reporter.note("left out: " + reason); }))
      continue;
    tasks.push_back({placed.workload, static_cast<double>(placed.places.size())});
    add_narrow(placed, narrow, tasks);
  }
  if (tasks.empty()) throw_user("nothing of {} can be tuned; `lehr model` says why", model.file);
  return tasks;
}

/// The worst of all, of which something has to have run.
std::pair<Code, std::string> outcome_of(const std::vector<SharedResult>& results) {
  std::pair<Code, std::string> worst;
  for (const SharedResult& each : results) {
    if (!each.summary || (!each.summary->best && each.summary->unproven.empty())) continue;
    const auto one = api::outcome_of(*each.summary);
    if (one.first > worst.first) worst = one;
  }
  const bool any = std::ranges::any_of(results, [](const SharedResult& each) { return each.best_us > 0; });
  if (!any && worst.first == Code::kDone) return {Code::kNothingFound, "no candidate of any workload ran"};
  return worst;
}

}  // namespace

ModelResult tune_network(const Model& model, Device& device, Log& log, const TuneOptions& options,
                         Reporter& reporter, nlohmann::json& document) {
  check_ranges({}, options);
  if (!device.note().empty()) reporter.note(device.note());
  Network network = read_network(model, reporter);
  if (const std::string sizes = missing_sizes_text(network); !sizes.empty()) reporter.note(sizes);
  OpenDevice& open = device.state().open;
  network.places = served_places(network, open.device.limits);
  std::vector<SharedTask> tasks =
      tasks_of(network, model, open.device.limits, options.precision == kNarrow, reporter);
  SharedOptions shared;
  shared.session = session_options(options, device.state());
  const std::optional<Database> other = other_log(options);
  Database& database = database_of(log);
  if (!options.fresh) recall(tasks, open.device, options.winograd, database);
  reporter.step(knowledge_text(tasks));
  shared.session.before_s = std::exchange(device.state().opening_s, 0);
  shared.session.on_event = [&](const Event& event) { reporter.show(event); };
  shared.time_s = options.time_s > 0 ? options.time_s : kSecondsEach * static_cast<double>(tasks.size());
  shared.saving_products = options.winograd;
  const std::vector<SharedResult> found =
      tune_tasks(tasks, open, {database, other ? &*other : nullptr}, shared);
  const SharedTotals totals = totals_of(found);
  ModelResult result;
  result.best_us = totals.best_us;
  result.default_us = totals.default_us;
  result.baseline_us = totals.baseline_us;
  result.workloads = static_cast<int>(found.size());
  for (const SharedResult& each : found) result.trials += each.summary ? each.summary->measured : 0;
  std::tie(result.code, result.failure) = is_stopped(device) ? kStopped : outcome_of(found);
  result.text = report_text(flags_of(model), found, open.device, log.path());
  document = document_of(model.file, found, log.path());
  result.json = dumped(document);
  return result;
}

ModelResult tune(const Model& model, Device& device, Log& log, const TuneOptions& options) {
  Reporter reporter(options.on_progress);
  nlohmann::json document;
  return guarded([&] { return tune_network(model, device, log, options, reporter, document); });
}

}  // namespace lehr::api
