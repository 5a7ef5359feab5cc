#include "cli/remeasure.h"

#include <fmt/core.h>

#include <optional>

#include "base/error.h"
#include "cli/measure_setup.h"
#include "cli/session_id.h"
#include "cli/table.h"
#include "measure/system/affinity.h"
#include "tune/session.h"
#include "tune/tuner.h"

namespace lehr {
namespace {

/// One trial of the default and one of `wanted`, then the contest.
Summary time_again(const Config& wanted, const Task& task, Candidates candidates, Measurer& measurer,
                   Database& database, const std::atomic<bool>& interrupted) {
  candidates.defaults.resize(1);
  const Tuner tuner = make_tuner("random", candidates.space, 0);
  SessionOptions options;
  options.stop.trials = 1;  // the default's: what is wanted is measured whatever the budget
  options.threads = static_cast<int>(allowed_cpus().size());
  options.strategy = "random";
  options.baselines = chosen_baselines(task.device.limits.target, "");
  options.reuse = false;
  options.wanted = {wanted};
  options.session_id = new_session_id();
  options.tool_version = kToolVersion;
  SessionParts parts;
  parts.measurer = &measurer;
  parts.strategy = tuner.strategy.get();
  parts.database = &database;
  parts.interrupted = &interrupted;
  return run_session(task, candidates, options, parts);
}

}  // namespace

std::string remeasure(const Winner& winner, Database& database, const Environment& environment,
                      const std::atomic<bool>& interrupted) {
  const Record& record = winner.record;
  const auto said = [&](const std::string& what) { return fmt::format("'{}' {}", record.workload, what); };
  try {
    const std::optional<DeviceChoice> choice = device_at_hand(record.device, record.target, environment);
    if (!choice)
      return said(fmt::format(
          "is not measured again: it was measured on {}, and this machine has no such device with "
          "that driver and compiler; lehr tune it on the device that it is for",
          record.device));
    const Workload workload = parse_workload(record.workload);
    MeasureSetup setup = make_measure_setup(*choice, workload, environment, 0);
    const Task task = {workload, setup.device};
    Candidates candidates = candidates_for(task);
    if (const auto invalid = candidates.space.why_invalid(record.config))
      return said(fmt::format("is not measured again: its config is no longer valid: {}; lehr tune it again",
                              *invalid));
    const Config wanted = candidates.space.config_of(candidates.space.point_of(record.config));
    const Summary summary =
        time_again(wanted, task, std::move(candidates), *setup.measurer, database, interrupted);
    if (!summary.best) return said(fmt::format("is not measured again: {}", summary.first_failure));
    const bool won = summary.best->config == wanted;
    return said(fmt::format("was measured again: {}{}, after {} in the log",
                            format_time_us(summary.verdict.best),
                            won ? "" : ", by the default, which its config does not beat now",
                            format_time_us(winner.verdict.best)));
  } catch (const Error& error) {
    return said(fmt::format("is not measured again: {}", error.what()));
  }
}

}  // namespace lehr
