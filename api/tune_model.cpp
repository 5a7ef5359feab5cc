// Tunes a network's convolutions and products in turns.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "api/model_report.h"
#include "api/sessions.h"
#include "api/shards.h"
#include "apply/choose_matches.h"
#include "apply/rewrite.h"
#include "apply/served.h"
#include "base/args.h"
#include "base/text.h"
#include "measure/core/format.h"
#include "tune/many_tasks.h"
#include "tune/session_options.h"

namespace lehr::api {

namespace {

/// Returns smaller sizes of the dimension that has a range, the least first. Shapes are inferred at each of
/// them. For a long range it returns only some of the sizes, so that this takes no noticeable time. Returns
/// an empty list if no dimension has a range.
std::vector<std::int64_t> smaller_sizes(const NetworkFile& model) {
  constexpr std::int64_t kMostSizes = 32;
  std::set<std::int64_t> sizes;
  for (const auto& [name, size] : model.dims) {
    const std::int64_t others = size.most - size.least, count = std::min(others, kMostSizes);
    for (std::int64_t i = 0; i < count; ++i) sizes.insert(size.least + i * others / count);
    if (others > 0) sizes.insert(size.most - 1);
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace

ShapeBindings bindings_of(const NetworkFile& model, std::int64_t within) {
  ShapeBindings bindings = {{}, model.inputs};
  for (const auto& [name, size] : model.dims)
    bindings.dims[name] = within > 0 && size.least < size.most ? within : size.most;
  return bindings;
}

Network read_network(const NetworkFile& model, Reporter& reporter) {
  check_model(model);
  Network network;
  network.model = read_onnx(model.file);
  if (network.model.opsets.contains(kFusedDomain))
    throw_user("{} is a network that `lehr apply` has written: name the original; `lehr verify` takes both",
               model.file);
  for (const std::string& warning : network.model.warnings)
    reporter.note(fmt::format("{}: {}", model.file, warning));
  network.shapes = infer_shapes(network.model, bindings_of(model));
  for (const std::int64_t size : smaller_sizes(model))
    network.smaller.push_back(infer_shapes(network.model, bindings_of(model, size)));
  network.matches = matches_of(network);
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

void check_tunable(const NetworkFile& model, const Network& network) {
  if (!network.matches.workloads.empty()) return;
  const std::string sizes = missing_sizes_text(network);
  const std::vector<Gap>& gaps = network.matches.gaps;
  std::string why;
  if (!sizes.empty())
    why = "; " + sizes;
  else if (!gaps.empty())
    why = fmt::format(": of {} the first stays the engine's because {}", gaps.size(), gaps[0].reason);
  throw_user("{} has no convolution and no product that could be tuned{}", model.file, why);
}

std::string flags_of(const NetworkFile& model) {
  std::string text = shell_quoted(model.file);
  for (const auto& [name, size] : model.dims)
    text += " --dim " + shell_quoted(size.least < size.most
                                         ? fmt::format("{}={}..{}", name, size.least, size.most)
                                         : fmt::format("{}={}", name, size.most));
  for (const auto& [name, sizes] : model.inputs)
    text += " --input " + shell_quoted(fmt::format("{}={}", name, fmt::join(sizes, "x")));
  return text;
}

namespace {

/// The tasks of a network, and for each match the tasks that can compute it.
struct NetworkTasks {
  std::vector<SharedTask> tasks;
  struct MatchTasks {
    const Match* match;
    /// Positions of the tasks that can compute the match. The first task has the graph's own types and
    /// layout.
    std::vector<std::size_t> tasks;
  };
  std::vector<MatchTasks> matches;
};

/// Returns the position of the task for a workload, and adds the task if it does not exist. `first` is the
/// position of the first task that computes the same result; the search begins there.
std::size_t task_for(const Workload& workload, std::size_t first, std::vector<SharedTask>& tasks) {
  for (std::size_t i = first; i < tasks.size(); ++i)
    if (tasks[i].workload == workload) return i;
  tasks.push_back({.workload = workload, .occurrences = 0, .instead_of = first});
  return tasks.size() - 1;
}

NetworkTasks tasks_of(const Network& network, const NetworkFile& model, const Limits& limits, bool narrow,
                      Reporter& reporter) {
  check_tunable(model, network);
  const OtherForms others = other_forms_on(network, network.matches, limits, narrow);
  NetworkTasks all;
  for (const MatchedWorkload& matched : network.matches.workloads) {
    if (lehr::why_not_served(matched.workload, limits,
                             [&](const std::string& reason) { reporter.note("left out: " + reason); }))
      continue;
    const std::size_t first = all.tasks.size();
    all.tasks.push_back({matched.workload, static_cast<double>(matched.matches.size())});
    for (const Match& match : matched.matches) {
      NetworkTasks::MatchTasks& one = all.matches.emplace_back(&match, std::vector<std::size_t>{first});
      const auto found = others.find(&match);
      if (found == others.end()) continue;
      for (const Workload& other : found->second) {
        one.tasks.push_back(task_for(other, first, all.tasks));
        all.tasks[one.tasks.back()].occurrences += 1;
      }
    }
  }
  if (all.tasks.empty()) throw_user("nothing of {} can be tuned; `lehr model` says why", model.file);
  return all;
}

/// Returns how many matches each task computes if the network uses the tasks with which it is expected to be
/// fastest. A match without timed tasks uses its first task.
std::vector<double> uses_of(const Network& network, const NetworkTasks& all,
                            const std::vector<double>& best_us) {
  std::vector<double> uses(all.tasks.size(), 0);
  std::vector<MatchKernels> matches;
  std::vector<const NetworkTasks::MatchTasks*> timed;
  for (const NetworkTasks::MatchTasks& each : all.matches) {
    MatchKernels kernels;
    for (const std::size_t task : each.tasks)
      if (best_us[task] > 0)
        kernels.push_back({each.match, all.tasks[task].workload, 0, false, best_us[task]});
    if (kernels.empty())
      uses[each.tasks[0]] += 1;
    else {
      matches.push_back(std::move(kernels));
      timed.push_back(&each);
    }
  }
  const std::vector<Replacement> fastest = expected_fastest(network, matches);
  for (std::size_t i = 0; i < fastest.size(); ++i)
    uses[*std::ranges::find(timed[i]->tasks, fastest[i].workload,
                            [&](std::size_t task) { return all.tasks[task].workload; })] += 1;
  return uses;
}

/// Adds to each range the verdict that the log has for it on this device, as recall() does for other tasks.
void recall_ranges(std::vector<SharedTask>& ranges, const std::string& identity, const Database& database) {
  for (SharedTask& range : ranges) {
    const auto verdicts = database.verdicts({.workload = to_text(range.workload), .device = identity});
    if (verdicts.empty()) continue;
    range.verdict = verdicts.front();
    range.knowledge = Knowledge::kKnown;
  }
}

/// Returns the result of a task that is a range. Its time is the time for the most rows. `range` is the
/// result of tuning; nullopt: the range was not tuned.
SharedResult result_of(const SharedTask& task, std::optional<RangeSummary> range) {
  SharedResult result = {task};
  if (task.verdict) result.best_us = task.verdict->best.us;
  if (range && range->record) result.best_us = std::get<Timing>(range->record->outcome).time_us;
  result.range = std::move(range);
  return result;
}

/// Tunes ranges one after the other, each for `seconds_each`. Ranges that already have a verdict from the log
/// are not tuned.
std::vector<SharedResult> tune_ranges(const std::vector<SharedTask>& ranges, double seconds_each,
                                      Device& device, Logs logs, const TuneOptions& options,
                                      SessionOptions session, Reporter& reporter) {
  std::vector<SharedResult> results;
  for (const SharedTask& task : ranges) {
    std::optional<RangeSummary> summary;
    if (!task.verdict && !is_stopped(device)) {
      session.session_id = new_session_id();
      session.began_unix_ms = now_unix_ms();
      session.stop.time_s = seconds_each;
      summary = tune_one_range(task.workload, device, logs, options, session, reporter);
      session.before_s = 0;
    }
    results.push_back(result_of(task, std::move(summary)));
  }
  return results;
}

/// Returns the tasks that are ranges of rows, if `ranges` is true; else the tasks that are not. `numbers`
/// gets the position in `tasks` of each returned task.
std::vector<SharedTask> part_of(const std::vector<SharedTask>& tasks, bool ranges,
                                std::vector<std::size_t>& numbers) {
  std::vector<SharedTask> part;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (is_range(tasks[i].workload) != ranges) continue;
    part.push_back(tasks[i]);
    // A task and the task that `instead_of` names are both in the same part.
    if (part.back().instead_of)
      part.back().instead_of =
          static_cast<std::size_t>(std::ranges::find(numbers, *part.back().instead_of) - numbers.begin());
    numbers.push_back(i);
  }
  return part;
}

/// Tunes the tasks that are not ranges in turns, then each range by itself. The time is divided equally among
/// all tasks. Returns the results in the order of `tasks`.
std::vector<SharedResult> tune_all(const std::vector<SharedTask>& tasks, const Uses& uses, Device& device,
                                   Logs logs, const TuneOptions& options, SharedOptions shared,
                                   Reporter& reporter) {
  const OpenDevice& open = device.state().open;
  std::vector<std::size_t> at, ranges_at;
  std::vector<SharedTask> fixed = part_of(tasks, false, at), ranges = part_of(tasks, true, ranges_at);
  if (!options.fresh) {
    recall(fixed, open.device, options.winograd, logs.own);
    recall_ranges(ranges, identity_of(open.device), logs.own);
  }
  std::vector<SharedTask> known = fixed;
  known.insert(known.end(), ranges.begin(), ranges.end());
  reporter.step(knowledge_text(known));
  // Tuning a range cannot take account of the work that follows (`behind_s`), so that work gets a fixed share
  // of the time.
  constexpr double kShareBesideRanges = 0.7;
  double time_s = options.time_s;
  if (!ranges.empty() && std::exchange(shared.behind_s, {})) time_s *= kShareBesideRanges;
  const double each_s = time_s > 0 ? time_s / static_cast<double>(tasks.size()) : 0;
  std::vector<SharedResult> results(tasks.size());
  const auto match = [&](std::vector<SharedResult> part, const std::vector<std::size_t>& numbers) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i].instead_of) part[i].instead_of = numbers[*part[i].instead_of];
      results[numbers[i]] = std::move(part[i]);
    }
  };
  if (!fixed.empty()) {
    const auto own = std::ranges::count_if(fixed, [](const SharedTask& task) { return !task.instead_of; });
    shared.time_s =
        each_s > 0 ? each_s * static_cast<double>(fixed.size()) : kSecondsEach * static_cast<double>(own);
    shared.uses = [&](const std::vector<double>& best_us) {
      std::vector<double> all(tasks.size(), 0), own;
      for (std::size_t i = 0; i < at.size(); ++i) all[at[i]] = best_us[i];
      const std::vector<double> all_uses = uses(all);
      for (const std::size_t task : at) own.push_back(all_uses[task]);
      return own;
    };
    match(tune_tasks(fixed, open, logs, shared), at);
    shared.session.before_s = 0;
  }
  match(tune_ranges(ranges, each_s, device, logs, options, shared.session, reporter), ranges_at);
  std::vector<double> best_us;
  for (const SharedResult& each : results) best_us.push_back(each.best_us);
  const std::vector<double> all_uses = uses(best_us);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].uses = all_uses[i];
  return results;
}

/// Returns the worst outcome of all results. At least one task must have run.
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

std::vector<Workload> workloads_of(const Matches& matches) {
  std::vector<Workload> workloads;
  for (const MatchedWorkload& matched : matches.workloads) workloads.push_back(matched.workload);
  return workloads;
}

namespace {

/// Returns the first node of each match that belongs to the shard. Nodes identify a match, since its workload
/// may differ on a device.
std::set<std::size_t> nodes_of_share(const Matches& matches, const cluster::Plan& plan,
                                     const TuneOptions& options) {
  const int shard = options.shard.empty() ? 0 : cluster::parse_shard(options.shard).index;
  std::set<std::size_t> nodes;
  for (const MatchedWorkload& matched : matches.workloads) {
    const auto item = std::ranges::find(plan.items, to_text(matched.workload), &cluster::PlanItem::workload);
    if (item->shard != shard) continue;
    for (const Match& match : matched.matches) nodes.insert(match.nodes[0]);
  }
  return nodes;
}

NetworkResult tune_share(const Network& network, const NetworkFile& model, Device& device, Log& log,
                         const TuneOptions& options, Reporter& reporter, nlohmann::json& document,
                         const std::function<double(double, double)>& behind_s) {
  if (!options.shard.empty() && network.matches.workloads.empty()) {
    reporter.note("this shard has nothing to tune");
    document = document_of(model.file, {}, log.path());
    NetworkResult none;
    none.json = dumped(document);
    return none;
  }
  OpenDevice& open = device.state().open;
  const NetworkTasks all =
      tasks_of(network, model, open.device.limits, options.precision == kNarrow, reporter);
  SharedOptions shared;
  shared.session = session_options(options, device.state());
  const std::optional<Database> other = other_log(options);
  Database& database = database_of(log);
  shared.session.before_s = std::exchange(device.state().opening_s, 0);
  shared.session.on_event = [&](const Event& event) { reporter.show(event); };
  shared.winograd = options.winograd;
  shared.behind_s = behind_s;
  const Logs logs = {database, other ? &*other : nullptr};
  const Uses uses = [&](const std::vector<double>& best_us) { return uses_of(network, all, best_us); };
  const std::vector<SharedResult> found = tune_all(all.tasks, uses, device, logs, options, shared, reporter);
  const SharedTotals totals = totals_of(found);
  NetworkResult result;
  result.best_us = totals.best_us;
  result.default_us = totals.default_us;
  result.baseline_us = totals.baseline_us;
  result.workloads = static_cast<int>(found.size());
  for (const SharedResult& each : found) result.trials += measured_of(each);
  std::tie(result.code, result.failure) = is_stopped(device) ? kStopped : outcome_of(found);
  result.text = report_text(flags_of(model), found, open.device, log.path());
  document = document_of(model.file, found, log.path());
  result.json = dumped(document);
  return result;
}

}  // namespace

NetworkResult tune_network(const NetworkFile& model, Device& device, Log& log, const TuneOptions& options,
                           Reporter& reporter, nlohmann::json& document,
                           const std::function<double(double, double)>& behind_s) {
  check_ranges({}, options);
  if (!device.note().empty()) reporter.note(device.note());
  Network network = read_network(model, reporter);
  if (const std::string sizes = missing_sizes_text(network); !sizes.empty()) reporter.note(sizes);
  const cluster::Plan plan = plan_of(workloads_of(network.matches), options, true);
  const std::set<std::size_t> share = nodes_of_share(network.matches, plan, options);
  network.matches = served_matches(network, device.state().open.device.limits);
  if (!options.shard.empty())
    std::erase_if(network.matches.workloads, [&](const MatchedWorkload& matched) {
      return !share.contains(matched.matches[0].nodes[0]);
    });
  ShardRun run(plan, options, device, log, reporter);
  return published(
      run, [&] { return tune_share(network, model, device, log, options, reporter, document, behind_s); });
}

NetworkResult tune(const NetworkFile& model, Device& device, Log& log, const TuneOptions& options) {
  Reporter reporter(options.on_progress);
  nlohmann::json document;
  return guarded([&] { return tune_network(model, device, log, options, reporter, document); });
}

}  // namespace lehr::api
