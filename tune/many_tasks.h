// Several tasks under one budget of time: each next turn goes to the one from which most is expected.
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

/// What a log says of a task before it is tuned.
enum class Knowledge {
  kKnown,  ///< a contest was won on this device, and its kernel is made today as it was measured
  kNear,   ///< timings of this task, or of one at a small distance(), serve as hints
  kNew,
};
/// "known", "near", "new".
std::string_view name_of(Knowledge knowledge);
/// Up to here a task is near: as two sizes that are doubled twice.
inline constexpr double kNearDistance = 4;

/// A workload and how often it occurs in what is to become faster.
struct SharedTask {
  Workload workload;
  double occurrences = 1;
  Knowledge knowledge = Knowledge::kNew;
  std::optional<StoredVerdict> verdict = std::nullopt;  ///< of a known one
  int timed = 0;                                        ///< trials of it on this device that the log has
  /// A task before it, which does the same work in another form: one of them will do it, as Uses say.
  std::optional<std::size_t> instead_of = std::nullopt;
};

/// Tells at how many occurrences each task does the work, given the times of all of one occurrence; 0: not
/// known.
using Uses = std::function<std::vector<double>(const std::vector<double>& best_us)>;

/// Fills in what the log tells of each task on the device, with these families (Task::saving_products).
/// Throws as candidates_for().
void recall(std::vector<SharedTask>& tasks, const Device& device, bool saving_products,
            const Database& database);

/// What came of it.
struct SharedResult : SharedTask {
  std::optional<Summary> summary = {};     ///< nullopt: the log answered, no time was left, or it is a range
  std::optional<RangeSummary> range = {};  ///< the same of a range of rows
  double best_us = 0;                      ///< of one occurrence; 0: nothing ran
  double default_us = 0;                   ///< of one occurrence; 0: not known
  std::string baseline = {};               ///< the fastest library; "": none was timed
  double baseline_us = 0;
  int turns = 0;    ///< of the search, that it got
  double uses = 0;  ///< at how many of its occurrences it is the one that does the work
};
/// Trials of this run, failures included.
int measured_of(const SharedResult& result);
struct SharedOptions {
  double time_s = 0;                                  ///< of all tasks, finals included; above 0
  bool saving_products = true;                        ///< Task::saving_products
  std::optional<SharedLayout> layout = std::nullopt;  ///< Task::layout
  /// What counts of a task is its time as a share of its default's: the largest one is worth no more than the
  /// smallest. Else the time itself.
  bool by_share = false;
  /// Asked once all tasks had their defaults: only those that do some of the work are searched. Empty: all do
  /// that no other is instead of.
  Uses uses = {};
  /// Seconds that are needed behind the tuning, of `time_s`, by what is known so far: the sum of all tasks'
  /// times, and what compiling a kernel takes; empty: none.
  std::function<double(double sum_us, double compile_s)> behind_s;
  SessionOptions session;  ///< of each; its `session_id` gets the task's number behind it
};

/// Tunes them in turns. What is known is answered by its verdict, and gets turns only where these promise
/// enough. New tasks get their defaults first, those with most operations before others: compiled several at
/// a time while nothing is timed, then each has one checked call and a short window. Then each turn goes to
/// the task with the greatest expected gain per second (gain_curve.h); when no turn promises kLeastGain of
/// the sum any more, or time is up but for the finals, each task that had a turn has its finals. Others have
/// theirs where time is left; else their defaults are unproven. `device.stop` ends it without finals.
/// `options.session.on_event` gets events with `shared`. Results in the order of `tasks`. Throws as Session.
std::vector<SharedResult> tune_tasks(const std::vector<SharedTask>& tasks, const OpenDevice& device,
                                     Logs logs, const SharedOptions& options);

/// Of the sum of all best times, below which a turn is not worth its time. With --patience 0: none.
inline constexpr double kLeastGain = 0.0002;
/// Trials that a turn has at least, but for a session that ends.
inline constexpr int kTurnTrials = 8;

/// Sums over the results that have a time, each as often as it occurs; microseconds. Of several that do the
/// same work `best_us` has the one that is used, the others have the one that the rest is instead of.
struct SharedTotals {
  double best_us = 0, default_us = 0;
  double baseline_us = 0;             ///< of the tasks that have one
  double best_where_baseline_us = 0;  ///< of the same tasks
};
SharedTotals totals_of(const std::vector<SharedResult>& results);

}  // namespace lehr
