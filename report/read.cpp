// Reads logs and applied networks into the document.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/describe_json.h"
#include "base/error.h"
#include "base/version.h"
#include "report/changes.h"
#include "report/network.h"
#include "report/report.h"
#include "report/task.h"
#include "report/trials.h"
#include "workload/workload.h"

namespace lehr::report {
namespace {

using nlohmann::json;

/// Workload and device.
using TaskName = std::pair<std::string, std::string>;

/// Returns the log's tasks with their winners. The winner is nullopt if nothing was timed for the task.
std::map<TaskName, std::optional<Winner>> tasks_of(const Database& log, const DatabaseStats& stats) {
  std::map<TaskName, std::optional<Winner>> tasks;
  for (const Winner& winner : winners(log, {}))
    tasks[{winner.record.workload, winner.record.device}] = winner;
  for (const TaskStats& task : stats.tasks)
    if (task.timed == 0) tasks.try_emplace({task.workload, task.device});
  return tasks;
}

/// Returns the seconds in which at least one of the tasks' sessions was running.
double seconds_of(const Document& document, std::size_t log) {
  std::vector<Session> sessions;
  for (const Task& task : document.tasks)
    if (task.log == log) sessions.insert(sessions.end(), task.sessions.begin(), task.sessions.end());
  std::ranges::sort(sessions, {}, &Session::began_unix_ms);
  return timeline_of(sessions).seconds;
}

void add_log(const std::string& file, std::int64_t most_others, Document& document) {
  const Database database = Database::open_read_only(file);
  const DatabaseStats stats = database.stats();
  const LogFacts facts = {database, database.origins(), database.devices(), most_others};
  std::set<std::string> versions;
  for (const auto& [name, winner] : tasks_of(database, stats)) {
    std::optional<Task> task = tell_task(facts, name.first, name.second, winner);
    if (!task) continue;
    task->log = document.logs.size();
    const auto known = std::ranges::find(document.devices, task->where.reported, &MeasuredDevice::reported);
    task->device = static_cast<std::size_t>(known - document.devices.begin());
    if (known == document.devices.end()) document.devices.push_back(task->where);
    task->reported.update({{"log", task->log}, {"device", task->device}});
    versions.insert(task->reported["version"].get<std::string>());
    document.tasks.push_back(*std::move(task));
  }
  std::int64_t began = 0, ended = 0;
  for (const TaskStats& task : stats.tasks) {
    began = began == 0 ? task.first_unix_ms : std::min(began, task.first_unix_ms);
    ended = std::max(ended, task.last_unix_ms);
  }
  document.logs.push_back({{"file", file},
                           {"trials", stats.records},
                           {"sessions", stats.sessions},
                           {"versions", versions},
                           {"began_unix_ms", known_or_null(began)},
                           {"ended_unix_ms", known_or_null(ended)},
                           {"seconds", seconds_of(document, document.logs.size())}});
}

json report_of(const auto& parts) {
  json reported = json::array();
  for (const auto& part : parts) reported.push_back(part.reported);
  return reported;
}

}  // namespace

Document read(const Request& request) {
  Document document;
  for (const std::string& file : request.logs) add_log(file, request.most_others, document);
  if (document.tasks.empty())
    throw_not_found("{} holds no trial; lehr tune gemm --db {} fills it", request.logs[0], request.logs[0]);
  for (const std::string& folder : request.applied)
    document.networks.push_back(read_network(folder, document.tasks));
  for (std::size_t log = 1; log < document.logs.size(); ++log)
    document.changes.push_back(change_between(document, log - 1, log));
  document.reported = {{"lehr", kVersion},
                       {"made_unix_ms", now_unix_ms()},
                       {"most_others", request.most_others},
                       {"logs", document.logs},
                       {"devices", report_of(document.devices)},
                       {"tasks", report_of(document.tasks)},
                       {"networks", document.networks},
                       {"changes", document.changes}};
  return document;
}

}  // namespace lehr::report
