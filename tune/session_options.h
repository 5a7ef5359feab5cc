// Options of a session, and the logs that it works with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "database/database.h"
#include "tune/budget.h"
#include "tune/events.h"
#include "tune/stop.h"
#include "tune/summary.h"
#include "tune/task.h"

namespace lehr {

struct SessionOptions {
  StopRules stop;
  std::uint64_t seed = 0;
  int threads = 1;                  ///< for lowering and features
  std::string strategy = "anneal";  ///< the tuner's name, which is stored with its picks
  /// Names of baselines in the finals. kUnfused is a kernel without the epilogue, followed by the epilogue;
  /// it is ignored if there is no such pair (Candidates::unfused).
  std::vector<std::string> baselines;
  /// Whether the session uses the outcomes that the log has for this workload from earlier runs, instead of
  /// measuring again.
  bool reuse = true;
  bool transfer = true;        ///< whether the log's rows of other tasks serve as hints
  bool resumes = true;         ///< whether trials of interrupted earlier runs count against the budget
  std::size_t finalists = 16;  ///< 0: no finals, and no verdict
  /// Points of the space that are measured together with the first default, even if the budget is spent or
  /// the log has their outcomes.
  std::vector<Point> wanted;
  bool check_determinism = false;  ///< whether to run the winner twice on the same input and compare the bits
  /// Seconds of the time limit that were spent before the session began, for example for opening the device.
  /// They count as set-up.
  double before_s = 0;
  /// The common budget of several sessions that share a time limit. This session searches until the time that
  /// the common budget reserves for finals begins. nullptr: the session has its own time limit.
  const Budget* shared = nullptr;
  double shared_s = 0;     ///< this session's share of the shared limit in seconds
  std::string session_id;  ///< unique: names this run in the database
  std::int64_t began_unix_ms = now_unix_ms();
  /// Called with each event; may be empty. If a call throws, it is not called again, and the session goes on.
  EventSink on_event;
  Budget::Now now_s;  ///< if empty: the steady clock
};

/// Returns 32 hexadecimal digits that are different for each run on any machine.
std::string new_session_id();

/// Returns a row with the columns that are equal in all rows of a session. Stores the session's device in
/// `log`.
Record common_row(const Task& task, const SessionOptions& options, Database& log);

/// The logs that a session works with.
struct Logs {
  Database& own;                     ///< receives trials and verdicts; contains those of earlier runs
  const Database* others = nullptr;  ///< the log with the tasks that give hints; nullptr: `own`
};

/// Returns a summary with the members that are known before the session begins. `text` is the problem's text,
/// and `flops` its number of operations.
RunSummary begun_summary(const std::string& text, double flops, const Device& device,
                         const SessionOptions& options);

}  // namespace lehr
