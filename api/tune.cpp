// Tunes workloads one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/device_names.h"
#include "api/progress.h"
#include "api/sessions.h"
#include "api/shards.h"
#include "api/tune_report.h"
#include "base/args.h"
#include "measure/system/affinity.h"
#include "tune/range.h"
#include "tune/session_options.h"
#include "tune/task.h"

namespace lehr::api {

SessionOptions session_options(const TuneOptions& options, const Device::State& device) {
  check(options);
  SessionOptions session;
  session.stop.trials = options.trials;
  session.stop.time_s = options.time_s == 0 && options.trials == 0 ? kSecondsAlone : options.time_s;
  session.stop.cut_searches = options.time_s > 0;
  session.stop.plateau_trials = options.patience;
  session.strategy = options.strategy;
  session.seed = options.seed;
  session.threads = static_cast<int>(allowed_cpus().size());
  session.reuse = !options.fresh;
  session.transfer = options.transfer != "off";
  session.check_determinism = options.deterministic_check;
  if (options.baselines != "none")
    session.baselines = chosen_baselines(device.open.device.limits.target, options.baselines);
  session.session_id = new_session_id();
  return session;
}

std::optional<Database> other_log(const TuneOptions& options) {
  if (options.transfer == "auto" || options.transfer == "off") return std::nullopt;
  return Database::open_read_only(options.transfer);
}

bool is_stopped(const Device& device) {
  const std::atomic<bool>* const stop = device.state().open.stop;
  return stop != nullptr && stop->load();
}

std::pair<Code, std::string> outcome_of(const Summary& summary) {
  if (!summary.unproven.empty())
    return {Code::kCheckFailed, fmt::format("'{}': {}", summary.workload, summary.unproven)};
  if (!summary.best)
    return {Code::kNothingFound,
            fmt::format("no candidate of '{}' ran: {} failed ({}), the first with {}", summary.workload,
                        summary.measured, failures_text(summary.failed), summary.first_failure)};
  if (summary.determinism.empty() || summary.verdict.deterministic.value_or(false)) return {};
  return {Code::kCheckFailed, fmt::format("'{}': {}", summary.workload, summary.determinism)};
}

namespace {

Time face_of(const lehr::Time& time) {
  return {time.us, time.interval.low, time.interval.high};
}

Result result_of(const Summary& summary, const Device& device, const std::string& log,
                 nlohmann::json& document) {
  Result result;
  const Verdict& verdict = summary.verdict;
  result.workload = summary.workload;
  if (summary.best) result.config = to_text(summary.best->config);
  result.best = face_of(verdict.best);
  result.default_time = face_of(verdict.default_time);
  result.speedup = verdict.speedup_vs_default.value;
  result.baseline = verdict.baseline;
  result.baseline_us = verdict.baseline_us;
  result.baseline_speedup = verdict.speedup_vs_baseline.value;
  result.contested = summary.contested;
  result.provisional = verdict.provisional;
  result.trials = summary.measured;
  std::tie(result.code, result.failure) = outcome_of(summary);
  if (is_stopped(device)) std::tie(result.code, result.failure) = kStopped;
  result.text = report_text(summary, device.state().open.device, log);
  document = to_json(summary);
  document["database"] = log;
  result.json = dumped(document);
  return result;
}

/// Returns the workloads that can be tuned on the device. Each other workload is reported as a note. Throws
/// if no workload of the list can be tuned, unless the list belongs to a shard.
std::vector<Workload> tunable(const std::vector<Workload>& wanted, const Device& device, Reporter& reporter,
                              bool of_shard) {
  std::vector<Workload> workloads;
  std::string last;
  for (const Workload& workload : wanted) {
    std::vector<std::string> left_out;
    const auto none = lehr::why_not_served(workload, device.state().open.device.limits,
                                           [&](const std::string& each) { left_out.push_back(each); });
    if (none && wanted.size() == 1 && !of_shard) throw_user("{}", *none);
    for (const std::string& each : left_out) reporter.note("left out: " + each);
    if (none)
      last = *none;
    else
      workloads.push_back(workload);
  }
  if (workloads.empty() && !of_shard)
    throw_user("none of {} workloads can be tuned here; the last reason: {}", wanted.size(), last);
  return workloads;
}

Result result_of(const RangeSummary& summary, const Device& device, const std::string& log,
                 nlohmann::json& document) {
  Result result;
  result.workload = summary.workload;
  if (summary.record) {
    const Timing& timing = std::get<Timing>(summary.record->outcome);
    result.config = to_text(summary.record->config);
    result.best = face_of({timing.time_us, interval_of(timing)});
  }
  result.trials = summary.measured;
  if (!summary.set)
    std::tie(result.code, result.failure) =
        std::pair(Code::kNothingFound, fmt::format("'{}': {}", summary.workload, summary.missing));
  if (is_stopped(device)) std::tie(result.code, result.failure) = kStopped;
  result.text = report_text(summary, device.state().open.device, log);
  document = to_json(summary);
  document["database"] = log;
  result.json = dumped(document);
  return result;
}

/// Adds the result of one workload, and passes it to TuneOptions::on_result.
void add_result(const AnySummary& summary, const Device& device, const Log& log, const TuneOptions& options,
                Results& results, nlohmann::json& documents) {
  results.each.push_back(std::visit(
      [&](const auto& one) { return result_of(one, device, log.path(), documents.emplace_back()); },
      summary));
  const Result& result = results.each.back();
  if (result.code > results.code)
    std::tie(results.code, results.failure) = std::tie(result.code, result.failure);
  if (options.on_result) options.on_result(result);
}

}  // namespace

void check_ranges(const std::vector<Workload>& workloads, const TuneOptions& options) {
  const auto range = std::ranges::find_if(workloads, [](const Workload& each) { return is_range(each); });
  if (range == workloads.end()) {
    if (options.kernels > 0) throw_user("--kernels {} is for a range of rows, as m=1..2048", options.kernels);
    return;
  }
  if (options.deterministic_check)
    throw_user("--deterministic-check is of one kernel; '{}' is served by several", to_text(*range));
  if (!options.baselines.empty() && options.baselines != "none")
    throw_user(
        "--baseline {} is for one size: '{}' is compared with no library, each of its sizes is, as m={}",
        options.baselines, to_text(*range), call_rows(*range).most);
}

RangeSummary tune_one_range(const Workload& range, Device& device, Logs logs, const TuneOptions& options,
                            SessionOptions session, Reporter& reporter) {
  const CallRows rows = call_rows(range);
  if (options.time_s == 0 && options.trials == 0)
    session.stop.time_s = kSecondsASize * static_cast<double>(measured_sizes(rows.least, rows.most).size());
  RangeOptions wanted;
  if (options.kernels > 0) wanted.kernels = static_cast<std::size_t>(options.kernels);
  wanted.winograd = options.winograd;
  wanted.session = std::move(session);
  wanted.on_step = [&](const std::string& text) { reporter.step(text); };
  return tune_range(range, device.state().open, logs, wanted);
}

namespace {

Results tune_share(const std::vector<Workload>& share, Device& device, Log& log, const TuneOptions& options,
                   Reporter& reporter) {
  const std::vector<Workload> workloads = tunable(share, device, reporter, !options.shard.empty());
  if (workloads.empty()) return {};
  check_ranges(workloads, options);
  const std::optional<Database> other = other_log(options);
  SessionOptions session = session_options(options, device.state());
  Database& database = database_of(log);
  session.before_s = std::exchange(device.state().opening_s, 0);
  session.on_event = [&](const Event& event) { reporter.show(event); };
  const OpenDevice& open = device.state().open;
  Results results;
  std::vector<AnySummary> summaries;
  nlohmann::json documents = nlohmann::json::array();
  for (const Workload& workload : workloads) {
    if (is_stopped(device) && !results.each.empty()) break;
    session.session_id = new_session_id();
    session.began_unix_ms = now_unix_ms();
    const Logs logs = {database, other ? &*other : nullptr};
    if (is_range(workload)) {
      summaries.emplace_back(tune_one_range(workload, device, logs, options, session, reporter));
    } else {
      const Task task = task_of(workload, open.device, options.winograd);
      summaries.emplace_back(Session(task, candidates_for(task), open, logs, session).run());
    }
    session.before_s = 0;
    add_result(summaries.back(), device, log, options, results, documents);
  }
  if (is_stopped(device)) std::tie(results.code, results.failure) = kStopped;
  results.text = overview_text(summaries);
  results.json = dumped(documents);
  return results;
}

}  // namespace

Results tune_workloads(const std::vector<Workload>& wanted, Device& device, Log& log,
                       const TuneOptions& options) {
  if (wanted.empty()) throw_user("there is no workload to tune: name one, such as 'gemm m=512 n=512 k=512'");
  if (options.precision == kNarrow)
    throw_user("--precision is for a network: the types of a workload are in its text");
  Reporter reporter(options.on_progress);
  if (!device.note().empty()) reporter.note(device.note());
  std::vector<Workload> share = share_of(wanted, options);
  ShardRun run(plan_of(wanted, options, false), options, device, log, reporter);
  if (wanted.size() > 1) run.leave_out_done(share);
  return published(run, [&] {
    Results results;
    if (!share.empty()) results = tune_share(share, device, log, options, reporter);
    if (results.each.empty()) reporter.note("this shard has nothing to tune");
    if (results.json.empty()) results.json = "[]";
    return results;
  });
}

std::string dumped(const nlohmann::json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result tune(const std::string& workload, Device& device, Log& log, const TuneOptions& options) {
  return guarded([&] {
    if (!options.shard.empty()) throw_user("--shard {} is of several workloads", options.shard);
    return tune_workloads({parse_workload(workload)}, device, log, options).each.at(0);
  });
}

Results tune(const std::vector<std::string>& workloads, Device& device, Log& log,
             const TuneOptions& options) {
  return guarded([&] {
    std::vector<Workload> read;
    for (const std::string& text : workloads) read.push_back(parse_workload(text));
    return tune_workloads(read, device, log, options);
  });
}

}  // namespace lehr::api
