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
  kKnown,  ///< it won a contest on this device, and its kernel is made today as it was measured
  kNear,   ///< timings of this task, or of one at a small distance(), serve as hints
  kNew,
};
/// Returns "known", "near" or "new".
std::string_view name_of(Knowledge knowledge);
/// Greatest distance of a near task: as much as doubling two sizes twice.
inline constexpr double kNearDistance = 4;

/// A workload, and how often it occurs in the whole that is to become faster.
struct SharedTask {
  Workload workload;
  double occurrences = 1;
  Knowledge knowledge = Knowledge::kNew;
  std::optional<StoredVerdict> verdict = std::nullopt;  ///< of a known task
  int timed = 0;                                        ///< number of its trials on this device in the log
  /// Position of an earlier task that computes the same result in another form. One of the two is used, as
  /// Uses decides.
  std::optional<std::size_t> instead_of = std::nullopt;
};

/// Returns at how many occurrences each task does the work, given the times of one occurrence of each; time
/// 0: not known.
using Uses = std::function<std::vector<double>(const std::vector<double>& best_us)>;

/// Fills in what the log knows of each task on the device, with these families (Task::saving_products).
/// Throws as candidates_for().
void recall(std::vector<SharedTask>& tasks, const Device& device, bool saving_products,
            const Database& database);

/// The result of a task.
struct SharedResult : SharedTask {
  std::optional<Summary> summary = {};     ///< nullopt: the log answered, there was no time, or it is a range
  std::optional<RangeSummary> range = {};  ///< the same for a range of rows
  double best_us = 0;                      ///< of one occurrence; 0: nothing ran
  double default_us = 0;                   ///< of one occurrence; 0: not known
  std::string baseline = {};               ///< name of the fastest library; "": no library was timed
  double baseline_us = 0;
  int turns = 0;    ///< turns of the search that it got
  double uses = 0;  ///< number of its occurrences where it does the work
};
/// Returns the trials of this run, failures included.
int measured_of(const SharedResult& result);
struct SharedOptions {
  double time_s = 0;                                  ///< for all tasks, finals included; above 0
  bool saving_products = true;                        ///< Task::saving_products
  std::optional<SharedLayout> layout = std::nullopt;  ///< Task::layout
  /// Whether a task's time counts as a share of its default's, so that the largest task is worth no more than
  /// the smallest. If false, the time itself counts.
  bool by_share = false;
  /// Called once all tasks have their defaults: only tasks that do some of the work are searched. If empty,
  /// all tasks without `instead_of` do the work.
  Uses uses = {};
  /// Returns the seconds of `time_s` that are needed after tuning, given the sum of all tasks' times so far
  /// and the seconds of a compilation. If empty: 0.
  std::function<double(double sum_us, double compile_s)> behind_s;
  SessionOptions session;  ///< of each task; the task's number is added to `session_id`
};

/// Tunes tasks in turns.
/// A known task is answered by its verdict, and gets turns only if these promise enough. New tasks get their
/// defaults first, those with most operations before others: several are compiled at once while nothing is
/// timed, then each has one checked call and a short window.
/// Then each turn goes to the task with the greatest expected gain per second (gain_curve.h). When no turn
/// promises kLeastGain of the sum any more, or only time for finals is left, each task that had a turn has
/// its finals. Other tasks have theirs if time is left; else their defaults are unproven.
/// `device.stop` ends the run without finals. `options.session.on_event` gets events with `shared`. Returns
/// the results in the order of `tasks`. Throws as Session.
std::vector<SharedResult> tune_tasks(const std::vector<SharedTask>& tasks, const OpenDevice& device,
                                     Logs logs, const SharedOptions& options);

/// Share of the sum of all best times below which a turn is not worth its time. With --patience 0 there is no
/// such limit.
inline constexpr double kLeastGain = 0.0002;
/// Least trials of a turn, unless its session ends.
inline constexpr int kTurnTrials = 8;

/// Microseconds: sums over the results that have a time, each times its occurrences. Of tasks that compute
/// the same result, `best_us` counts the one that is used. The other members count the first of them, which
/// the rest is instead of.
struct SharedTotals {
  double best_us = 0, default_us = 0;
  double baseline_us = 0;             ///< of the tasks that have a baseline
  double best_where_baseline_us = 0;  ///< `best_us` of those tasks
};
SharedTotals totals_of(const std::vector<SharedResult>& results);

}  // namespace lehr
