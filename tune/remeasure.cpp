#include "tune/remeasure.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/error.h"
#include "measure/system/affinity.h"
#include "tune/session.h"

namespace lehr {
namespace {

/// Runs one trial of the default and one of `wanted`, then the contest.
Summary time_again(const Point& wanted, const Task& task, Candidates candidates, const OpenDevice& device,
                   Database& database) {
  candidates.defaults.resize(1);
  SessionOptions options;
  options.stop.trials = 1;  // the trial of the default; the wanted config is measured whatever the budget
  options.threads = static_cast<int>(allowed_cpus().size());
  options.strategy = "random";
  options.baselines = usual_baselines(task.device.limits.target);
  options.reuse = false;
  options.wanted = {wanted};
  options.session_id = new_session_id();
  return Session(task, std::move(candidates), device, {database}, std::move(options)).run();
}

}  // namespace

Remeasured remeasure(const Record& record, Database& database, const OpenOptions& options) {
  try {
    const std::optional<DeviceChoice> choice = device_at_hand(record.device, record.target, options);
    if (!choice)
      return {
          fmt::format("it was measured on {}, and this machine has no such device with "
                      "that driver and compiler; lehr tune it on the device that it is for",
                      record.device)};
    const Workload workload = parse_workload(record.workload);
    const OpenDevice setup = open_device(*choice, workload, options);
    const Task task = task_of(workload, setup.device);
    Candidates candidates = candidates_for(task);
    if (const auto invalid = candidates.space.why_invalid(record.config))
      return {fmt::format("its config is no longer valid: {}; lehr tune it again", *invalid)};
    const Point point = candidates.space.point_of(record.config);
    const Config wanted = candidates.space.config_of(point);
    const Summary summary = time_again(point, task, std::move(candidates), setup, database);
    if (!summary.best) return {summary.first_failure};
    return {"", summary.verdict.best, summary.best->config == wanted};
  } catch (const Error& error) {
    return {error.what()};
  }
}

}  // namespace lehr
