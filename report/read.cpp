// Logs and applied networks -> the document.
#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/version.h"
#include "report/changes.h"
#include "report/network.h"
#include "report/report.h"
#include "report/task.h"
#include "workload/workload.h"

namespace lehr::report {
namespace {

/// Workload and device.
using TaskName = std::pair<std::string, std::string>;

/// The tasks that the log has winners of, and those of which nothing was timed.
std::map<TaskName, std::optional<Winner>> tasks_of(const Database& log, const DatabaseStats& stats) {
  std::map<TaskName, std::optional<Winner>> tasks;
  for (Winner& winner : winners(log, {})) {
    TaskName name = {winner.record.workload, winner.record.device};
    tasks[std::move(name)] = std::move(winner);
  }
  for (const TaskStats& task : stats.tasks)
    if (task.timed == 0) tasks.try_emplace({task.workload, task.device});
  return tasks;
}

std::size_t position_of(const DeviceFacts& device, std::vector<DeviceFacts>& devices) {
  const auto found = std::ranges::find(devices, device);
  if (found != devices.end()) return static_cast<std::size_t>(found - devices.begin());
  devices.push_back(device);
  return devices.size() - 1;
}

/// Seconds in which at least one of the tasks' sessions was running.
double seconds_of(const Document& document, std::size_t log) {
  std::vector<std::pair<double, double>> spans;
  for (const Task& task : document.tasks)
    for (const Session& session : task.sessions)
      if (const double began = static_cast<double>(session.began_unix_ms) / 1000; task.log == log)
        spans.emplace_back(began, began + session.seconds);
  std::ranges::sort(spans);
  double seconds = 0, end = 0;
  for (const auto& [began, ended] : spans) {
    seconds += std::max(0.0, ended - std::max(began, end));
    end = std::max(end, ended);
  }
  return seconds;
}

void add_log(const std::string& file, std::int64_t most_others, Document& document) {
  const Database database = Database::open_read_only(file);
  const DatabaseStats stats = database.stats();
  const LogFacts facts = {database, database.origins(), database.devices(), most_others};
  Log log{.file = file, .trials = stats.records, .sessions = stats.sessions, .versions = {}};
  for (const TaskStats& task : stats.tasks) {
    if (log.began_unix_ms == 0 || task.first_unix_ms < log.began_unix_ms)
      log.began_unix_ms = task.first_unix_ms;
    log.ended_unix_ms = std::max(log.ended_unix_ms, task.last_unix_ms);
  }
  for (const auto& [name, winner] : tasks_of(database, stats)) {
    std::optional<ToldTask> told = tell_task(facts, name.first, name.second, winner);
    if (!told) continue;
    told->task.log = document.logs.size();
    told->task.device = position_of(told->device, document.devices);
    document.tasks.push_back(std::move(told->task));
    for (const std::string& version : told->versions)
      if (std::ranges::find(log.versions, version) == log.versions.end()) log.versions.push_back(version);
  }
  log.seconds = seconds_of(document, document.logs.size());
  document.logs.push_back(std::move(log));
}

/// What a reader would else take for all there is.
void add_notes(Document& document) {
  const auto cut = std::ranges::count_if(
      document.tasks, [](const Task& task) { return task.trials.shown < task.trials.total; });
  if (cut > 0)
    document.notes.push_back(fmt::format(
        "{} {} more trials than are shown: all that were the fastest until then, the first of each kind of "
        "failure, and {} others that lie evenly between them",
        cut, cut == 1 ? "task has" : "tasks have", document.most_others));
}

}  // namespace

Document read(const Request& request) {
  Document document;
  document.version = kVersion;
  document.made_unix_ms = now_unix_ms();
  document.most_others = request.most_others;
  for (const std::string& file : request.logs) add_log(file, request.most_others, document);
  if (document.tasks.empty())
    throw_not_found("{} holds no trial; lehr tune gemm --db {} fills it", request.logs[0], request.logs[0]);
  for (const std::string& folder : request.applied)
    document.networks.push_back(read_network(folder, document.tasks));
  for (std::size_t log = 1; log < document.logs.size(); ++log)
    document.changes.push_back(change_between(document, log - 1, log));
  add_notes(document);
  return document;
}

}  // namespace lehr::report
