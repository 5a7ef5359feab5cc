#include "report/task.h"

#include <algorithm>

#include "base/error.h"
#include "deploy/kernel_json.h"
#include "report/trials.h"
#include "tune/roofline.h"
#include "tune/stored_kernel.h"
#include "workload/short_text.h"
#include "workload/workload.h"

namespace lehr::report {
namespace {

using nlohmann::json;

/// nullopt: of a newer version.
std::optional<Workload> read_workload(const std::string& text) {
  try {
    return parse_workload(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// A member of an object that anybody may have written; `otherwise` where it is not there or of another type.
template <typename T>
T member(const json& object, const char* name, T otherwise) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) return otherwise;
  const bool fits = std::is_same_v<T, std::string> ? found->is_string() : found->is_number();
  return fits ? found->template get<T>() : otherwise;
}
const json& object_in(const json& object, const char* name) {
  static const json kNone;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() ? kNone : *found;
}
Interval interval_in(const json& object, const char* name) {
  const json& pair = object_in(object, name);
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) return {};
  return {pair[0].get<double>(), pair[1].get<double>()};
}

std::vector<Library> libraries_of(const json& verdict) {
  std::vector<Library> libraries;
  const json& all = object_in(verdict, "baselines");
  if (!all.is_array()) return libraries;
  for (const json& each : all)
    libraries.push_back({member<std::string>(each, "name", "?"),
                         {member<double>(each, "time_us", 0), interval_in(each, "time_us_interval")},
                         {member<double>(each, "speedup", 0), interval_in(each, "speedup_interval")},
                         member<std::string>(each, "note", ""),
                         member<std::string>(each, "missing", "")});
  return libraries;
}

std::vector<Part> phases_of(const json& verdict) {
  std::vector<Part> phases;
  const json& parts = object_in(object_in(verdict, "elapsed_s"), "phases");
  if (!parts.is_object()) return phases;
  for (const char* name : {"setup", "hints", "proposals", "compile", "trials", "finals"})
    if (const double seconds = member<double>(parts, name, 0); seconds > 0) phases.push_back({name, seconds});
  return phases;
}

/// What a verdict says of the session that gave it.
void take_session(const json& verdict, const std::string& id, std::vector<Session>& sessions) {
  const auto session = std::ranges::find(sessions, id, &Session::id);
  if (session == sessions.end()) return;
  session->strategy = member<std::string>(verdict, "strategy", "");
  const json& elapsed = object_in(verdict, "elapsed_s");
  session->seconds = member<double>(elapsed, "total", session->seconds);
}

/// The limits with the rates that the session has seen: a CPU's are not among the stored facts.
Limits limits_with(const Workload& workload, const StoredDevice& device, const json& peaks) {
  Limits limits = limits_of(device);
  if (const double seen = member<double>(peaks, "gbytes_per_s", 0); seen > 0) limits.dram_gbytes_per_s = seen;
  const double per_f32 = peaks_of(workload, limits).per_f32;
  if (const double seen = member<double>(peaks, "gflops", 0); seen > 0 && per_f32 > 0)
    limits.peak_gflops_f32 = seen / per_f32;
  return limits;
}

void add_point(const std::string& name, double us, const Roofline& roofline, RooflineFacts& facts) {
  if (us > 0) facts.points.push_back({name, gflops_of(facts.flops, us), roofline.share(us)});
}

std::optional<RooflineFacts> roofline_of(const Task& task, const std::optional<StoredDevice>& device,
                                         const json& verdict) {
  std::optional<Workload> workload = read_workload(task.workload);
  if (!workload || !device || task.best.us <= 0) return std::nullopt;
  if (is_range(*workload)) workload = with_rows(*workload, task.rows ? task.rows->most : 1);
  const json& peaks = object_in(verdict, "peaks");
  const Roofline roofline(*workload, limits_with(*workload, *device, peaks));
  RooflineFacts facts{.flops = flops_of(*workload), .bytes = min_bytes_of(*workload)};
  facts.gflops = member<double>(peaks, "gflops", roofline.peaks().gflops);
  facts.gbytes_per_s = member<double>(peaks, "gbytes_per_s", roofline.peaks().gbytes_per_s);
  if (facts.gflops > 0) facts.bound = roofline.binding() == Roof::kMemory ? "memory" : "arithmetic";
  facts.in_caches = roofline.in_caches();
  add_point("best", task.best.us, roofline, facts);
  add_point("default", task.default_time.us, roofline, facts);
  for (const Library& library : task.libraries) add_point(library.name, library.time.us, roofline, facts);
  return facts;
}

DeviceFacts device_of(const std::string& identity, const std::optional<StoredDevice>& stored,
                      const Record& record) {
  DeviceFacts device{.identity = identity, .name = identity, .target = record.target, .arch = record.arch};
  if (!stored) return device;
  device.name = stored->name;
  device.compiler = stored->compiler;
  device.driver = stored->driver;
  device.os = stored->os;
  return device;
}

/// The text that a range's kernels have in trials with the most rows; another workload's own.
std::string trials_text_of(const std::string& workload) {
  const std::optional<Workload> read = read_workload(workload);
  return read && is_range(*read) ? to_text(kernels_of(*read)) : workload;
}

void take_winner(const Winner& winner, Task& task) {
  const Verdict& verdict = winner.verdict;
  task.proven = winner.contested && !verdict.provisional;
  task.winner = told_of(winner);
  task.best = verdict.best;
  task.default_time = verdict.default_time;
  task.over_default = verdict.speedup_vs_default;
  task.over_library = verdict.speedup_vs_baseline;
  task.vs_default = word_of(task.over_default, task.proven);
  task.vs_library = word_of(task.over_library, task.proven);
  task.rows = winner.rows;
}

}  // namespace

std::string word_of(const Ratio& ratio, bool proven) {
  if (ratio.value <= 0) return "";
  if (proven && ratio.value == 1) return "same";  // the default itself has won
  if (!proven || !ratio.interval.known()) return "unproven";
  return ratio.interval.low > 1 ? "faster" : ratio.interval.high < 1 ? "slower" : "same";
}

std::optional<ToldTask> tell_task(const LogFacts& facts, const std::string& workload,
                                  const std::string& device, const std::optional<Winner>& winner) {
  const std::vector<Record> records = facts.log.all({trials_text_of(workload), device, "", ""});
  if (records.empty()) return std::nullopt;
  ToldTask told;
  Task& task = told.task;
  task.workload = workload;
  task.short_text = short_text(workload);
  task.sessions = sessions_of(records, facts.origins);
  json verdict;
  if (const auto verdicts = facts.log.verdicts({workload, device, "", ""}); !verdicts.empty()) {
    verdict = json::parse(verdicts[0].json, nullptr, false);
    take_session(verdict, verdicts[0].session, task.sessions);
  }
  for (const Session& session : task.sessions) task.seconds += session.seconds;
  if (winner) {
    take_winner(*winner, task);
    task.knobs = knobs_of(records, winner->record.config);
    task.neighbours = neighbours_of(records, winner->record.config);
  }
  task.libraries = libraries_of(verdict);
  task.phases = phases_of(verdict);
  task.trials = trials_of(records, task.sessions, facts.most_others);
  task.failures = failures_of(records);
  const Record& shown = winner ? winner->record : records.back();
  std::optional<StoredDevice> stored;
  if (const auto found = facts.devices.find(shown.device_hash); found != facts.devices.end())
    stored = found->second;
  task.roofline = roofline_of(task, stored, verdict);
  told.device = device_of(device, stored, shown);
  for (const Record& record : records)
    if (std::ranges::find(told.versions, record.tool_version) == told.versions.end())
      told.versions.push_back(record.tool_version);
  return told;
}

}  // namespace lehr::report
