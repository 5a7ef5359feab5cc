// Several tasks under one time budget. Each turn goes to the task with the greatest expected gain.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tune/range.h"
#include "tune/session.h"
#include "tune/summary.h"
#include "tune/task.h"

namespace lehr {

/// How well a log knows a task before it is tuned.
enum class Knowledge {
  kKnown,  ///< it won a contest on this device, and this version makes the same kernel as was measured
  kNear,   ///< timings of this task, or of a task at a small distance(), serve as hints
  kNew,
};
/// Returns "known", "near" or "new".
std::string_view name_of(Knowledge knowledge);
/// Greatest distance of a near task. Doubling two sizes twice is this far.
inline constexpr double kNearDistance = 4;

/// A workload, and how often it occurs in the network that is to become faster.
struct SharedTask {
  Workload workload;
  double occurrences = 1;
  Knowledge knowledge = Knowledge::kNew;
  std::optional<StoredVerdict> verdict = std::nullopt;  ///< the verdict on a known task
  /// Number of the task's trials on this device in the log.
  int timed = 0;
  /// Position of an earlier task that computes the same result in another layout or by another operator. One
  /// of the two tasks is used; Uses decides which.
  std::optional<std::size_t> instead_of = std::nullopt;
};

/// Given the time of one occurrence of each task (0: not known), returns the number of occurrences at which
/// each task is used.
using Uses = std::function<std::vector<double>(const std::vector<double>& best_us)>;

/// Fills in what the log knows of each task on the device. `winograd` is Task::winograd. Throws
/// as candidates_for().
void recall(std::vector<SharedTask>& tasks, const Device& device, bool winograd, const Database& database);

/// The result of a task.
struct SharedResult : SharedTask {
  /// nullopt: the log answered, there was no time, or the task is a range of rows.
  std::optional<Summary> summary = {};
  std::optional<RangeSummary> range = {};  ///< the summary of a range of rows
  double best_us = 0;                      ///< microseconds of one occurrence; 0: nothing ran
  double default_us = 0;                   ///< microseconds of one occurrence; 0: not known
  std::string baseline = {};               ///< name of the fastest library; "": no library was timed
  double baseline_us = 0;
  int turns = 0;    ///< turns of the search that it got
  double uses = 0;  ///< number of its occurrences where this task is used
};
/// Returns the trials of this run, failures included.
int measured_of(const SharedResult& result);
struct SharedOptions {
  double time_s = 0;                                  ///< seconds for all tasks, finals included; above 0
  bool winograd = true;                               ///< Task::winograd
  std::optional<SharedLayout> layout = std::nullopt;  ///< Task::layout
  /// Whether a task's gain counts as a fraction of its default's time, so that the largest task is worth no
  /// more than the smallest. If false, the saved time itself counts.
  bool by_share = false;
  /// Called once all tasks have timed their defaults. Only tasks that are used at some occurrence are
  /// searched. If empty, all tasks without `instead_of` are used.
  Uses uses = {};
  /// Returns how many seconds of `time_s` are needed after tuning, given the sum of all tasks' times so far
  /// and the seconds of a compilation. If empty: 0.
  std::function<double(double sum_us, double compile_s)> behind_s;
  SessionOptions session;  ///< options of each task's session; the task's number is added to `session_id`
};

/// Tunes tasks in turns.
/// A known task is answered by its verdict. It gets turns only if these promise enough gain. New tasks time
/// their defaults first, in descending order of operations: several defaults are compiled at once while
/// nothing is timed, then each has one checked call and a short timing window.
/// Then each turn goes to the task with the greatest expected gain per second (gain_curve.h). The turns end
/// when no turn promises the fraction kLeastGain of the sum, or when only time for finals is left. Then each
/// task that had a turn has its finals. Other tasks have finals if time is left; if not, their defaults stay
/// unproven.
/// `device.stop` ends the run without finals. `options.session.on_event` gets events with `shared`. Returns
/// the results in the order of `tasks`. Throws as Session.
std::vector<SharedResult> tune_tasks(const std::vector<SharedTask>& tasks, const OpenDevice& device,
                                     Logs logs, const SharedOptions& options);

/// Fraction of the sum of all best times. A turn that is expected to save less is not worth its time. With
/// --patience 0 there is no such limit.
inline constexpr double kLeastGain = 0.0002;
/// Minimum number of trials in a turn, unless its session ends.
inline constexpr int kTurnTrials = 8;

/// Sums over the results that have a time, each times its occurrences, in microseconds. Several tasks may
/// compute the same result (SharedTask::instead_of). For these `best_us` counts the task that is used, and
/// the other sums count the first of the tasks.
struct SharedTotals {
  double best_us = 0, default_us = 0;
  double baseline_us = 0;             ///< over the tasks that have a baseline
  double best_where_baseline_us = 0;  ///< `best_us` over the tasks that have a baseline
};
SharedTotals totals_of(const std::vector<SharedResult>& results);

}  // namespace lehr
