#include "report/task.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/describe_json.h"
#include "deploy/kernel_json.h"
#include "report/trials.h"
#include "tune/roofline.h"
#include "tune/stored_kernel.h"
#include "tune/summary.h"
#include "workload/short_text.h"

namespace lehr::report {
namespace {

using nlohmann::json;

/// Returns the value at a path of a document that anybody may have written; `otherwise` if there is no value
/// of this type.
template <typename T>
T found_at(const json& document, const char* match, T otherwise) {
  try {
    return document.at(json::json_pointer(match)).get<T>();
  } catch (const json::exception&) {
    return otherwise;
  }
}

Interval interval_at(const json& document, const char* match) {
  const auto [low, high] = found_at(document, match, std::array<double, 2>{});
  return {low, high};
}

/// Returns the libraries that a verdict compares with.
json libraries_of(const json& verdict) {
  json libraries = json::array();
  for (const json& each : found_at(verdict, "/baselines", json::array()))
    libraries.push_back({{"name", found_at(each, "/name", std::string("?"))},
                         {"time_us", known_or_null(found_at(each, "/time_us", 0.0))},
                         {"time_us_interval", interval_at(each, "/time_us_interval")},
                         {"speedup", known_or_null(found_at(each, "/speedup", 0.0))},
                         {"speedup_interval", interval_at(each, "/speedup_interval")},
                         {"note", known_or_null(found_at(each, "/note", std::string()))},
                         {"missing", known_or_null(found_at(each, "/missing", std::string()))}});
  return libraries;
}

/// Returns how the session of a verdict spent its time.
json phases_of(const json& verdict) {
  json phases = json::array();
  for (const char* name : {"setup", "hints", "proposals", "compile", "trials", "finals"})
    if (const double seconds = found_at(verdict, ("/elapsed_s/phases/" + std::string(name)).c_str(), 0.0);
        seconds > 0)
      phases.push_back({{"name", name}, {"seconds", seconds}});
  return phases;
}

/// Adds a verdict's facts about its session to this session.
void take_session(const json& verdict, const std::string& id, std::vector<Session>& sessions) {
  const auto session = std::ranges::find(sessions, id, &Session::id);
  if (session == sessions.end()) return;
  session->reported["strategy"] = known_or_null(found_at(verdict, "/strategy", std::string()));
  session->seconds = found_at(verdict, "/elapsed_s/total", session->seconds);
}

/// Returns the device's limits with the peak rates that the session measured. The stored facts lack the rates
/// of CPUs.
Limits limits_with(const Workload& workload, const StoredDevice& device, const json& verdict) {
  Limits limits = limits_of(device);
  limits.dram_gbytes_per_s = found_at(verdict, "/peaks/gbytes_per_s", limits.dram_gbytes_per_s);
  const double per_f32 = peaks_of(workload, limits).per_f32, seen = found_at(verdict, "/peaks/gflops", 0.0);
  if (seen > 0 && per_f32 > 0) limits.peak_gflops_f32 = seen / per_f32;
  return limits;
}

/// Returns the data of a roofline chart: a workload's speeds and the device's roofs. `task` has the
/// workload's times.
json roofline_of(const Workload& workload, const StoredDevice& device, const json& verdict,
                 const json& task) {
  const Roofline roofline(workload, limits_with(workload, device, verdict));
  const double flops = flops_of(workload), gflops = roofline.peaks().gflops;
  json points;
  const auto add = [&](const json& name, const json& us) {
    if (us.is_number())
      points.push_back({{"name", name}, {"gflops", gflops_of(flops, us)}, {"share", roofline.share(us)}});
  };
  add("best", task["winner"]["time_us"]);
  add("default", task["default_us"]);
  for (const json& library : task["libraries"]) add(library["name"], library["time_us"]);
  const json bound = roofline.binding() == Roof::kMemory ? "memory" : "arithmetic";
  return {{"flops", flops},
          {"bytes", min_bytes_of(workload)},
          {"intensity", flops / min_bytes_of(workload)},
          {"peak_gflops", known_or_null(gflops)},
          {"peak_gbytes_per_s", known_or_null(roofline.peaks().gbytes_per_s)},
          {"bound", gflops > 0 ? bound : json()},
          {"in_caches", roofline.in_caches()},
          {"note", why_above_all(found_at(points, "/0/share", 0.0))},
          {"points", points}};
}

MeasuredDevice device_of(const Record& record, const std::map<std::uint64_t, StoredDevice>& devices) {
  const auto found = devices.find(record.device_hash);
  const StoredDevice facts = found == devices.end() ? StoredDevice() : found->second;
  const std::string name = facts.name.empty() ? record.device : facts.name;
  return {record.device,
          name,
          {{"identity", record.device},
           {"name", name},
           {"target", record.target},
           {"arch", record.arch},
           {"compiler", known_or_null(facts.compiler)},
           {"driver", known_or_null(facts.driver)},
           {"os", known_or_null(facts.os)}}};
}

/// Returns the workload's text in its trials. For a range of rows it is the text of the kernels with the most
/// rows.
std::string trials_text_of(const std::string& workload) {
  const std::optional<Workload> read = read_workload(workload);
  return read && is_range(*read) ? to_text(kernels_of(*read)) : workload;
}

/// Adds the winner to a task, and the facts about knobs that its trials show.
void take_winner(const Winner& winner, std::span<const Record> records, Task& task) {
  const Verdict& verdict = winner.verdict;
  task.best = verdict.best;
  task.proven = winner.contested && !verdict.provisional;
  task.over_default = verdict.speedup_vs_default;
  task.over_library = verdict.speedup_vs_baseline;
  task.reported.update({{"winner", report_of(winner)},
                        {"vs_default", known_or_null(word_of(task.over_default, task.proven))},
                        {"vs_library", known_or_null(word_of(task.over_library, task.proven))},
                        {"default_us", known_or_null(verdict.default_time.us)},
                        {"default_us_interval", verdict.default_time.interval},
                        {"knobs", knobs_of(records, winner.record.config)},
                        {"neighbours", neighbours_of(records, winner.record.config)},
                        {"rows", winner.rows}});
  if (!winner.rows) return;
  const Losses held_out = losses_of(winner.rows->held_out);
  task.reported["losses"] = {{"measured", losses_of(winner.rows->times).mean},
                             {"held_out", held_out.mean},
                             {"held_out_worst", held_out.worst}};
}

json sessions_told(Task& task) {
  json sessions = json::array();
  for (Session& session : task.sessions) {
    session.reported["seconds"] = session.seconds;
    task.seconds += session.seconds;
    sessions.push_back(session.reported);
  }
  return sessions;
}

}  // namespace

std::optional<Task> tell_task(const LogFacts& facts, const std::string& workload, const std::string& device,
                              const std::optional<Winner>& winner) {
  std::vector<Record> records = facts.log.all({trials_text_of(workload), device, "", ""});
  if (records.empty()) return std::nullopt;
  std::ranges::stable_sort(records, {}, &Record::created_unix_ms);  // a merge appends older records
  Task task;
  task.workload = workload;
  task.sessions = sessions_of(records, facts.origins);
  json verdict;
  if (const auto verdicts = facts.log.verdicts({workload, device, "", ""}); !verdicts.empty()) {
    verdict = json::parse(verdicts[0].json, nullptr, false);
    take_session(verdict, verdicts[0].session, task.sessions);
  }
  task.reported = {{"workload", workload},
                   {"short", short_text(workload)},
                   {"libraries", libraries_of(winner && winner->contested ? verdict : json())},
                   {"sessions", sessions_told(task)},
                   {"seconds", task.seconds},
                   {"trials", trials_of(records, task.sessions, facts.most_others)},
                   {"failures", failures_of(records)},
                   {"phases", phases_of(verdict)},
                   {"knobs", json::array()},
                   {"neighbours", json::array()}};
  for (const char* unknown : {"winner", "vs_default", "vs_library", "default_us", "default_us_interval",
                              "rows", "losses", "roofline"})
    task.reported[unknown] = nullptr;
  if (winner) take_winner(*winner, records, task);
  const Record& shown = winner ? winner->record : records.back();
  const std::optional<Workload> computed = read_workload(shown.workload);
  if (const auto found = facts.devices.find(shown.device_hash);
      winner && computed && found != facts.devices.end())
    task.reported["roofline"] =
        roofline_of(is_range(*computed) ? with_rows(*computed, winner->rows->most) : *computed, found->second,
                    verdict, task.reported);
  task.reported["version"] = shown.tool_version;
  task.where = device_of(shown, facts.devices);
  return task;
}

}  // namespace lehr::report
