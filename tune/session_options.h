// What a session is asked for, and the logs that it works with.
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
  std::string strategy = "anneal";  ///< the tuner's name, stored with its picks
  /// Asked to take part in the finals. kUnfused: a kernel without the epilogue, and the epilogue behind it;
  /// it has nothing to say where there is no such pair (Candidates::unfused).
  std::vector<std::string> baselines;
  bool reuse = true;           ///< earlier rows of this workload answer
  bool transfer = true;        ///< rows of other tasks hint
  bool resumes = true;         ///< what runs that were cut off have measured counts as trials of the budget
  std::size_t finalists = 16;  ///< 0: no finals, and no verdict
  /// Of the space: measured with the first default, whatever the budget and the log.
  std::vector<Point> wanted;
  bool check_determinism = false;  ///< the winner runs twice on the same input, and its bits are compared
  double before_s = 0;  ///< seconds of the time limit spent before: opening the device; part of the set-up
  /// A time that several sessions share: this one searches until what is kept of it is due. nullptr: none.
  const Budget* shared = nullptr;
  double shared_s = 0;     ///< this session's part of it
  std::string session_id;  ///< unique: names this run in the database
  std::int64_t began_unix_ms = now_unix_ms();
  /// Told what goes on; may be empty. It ends with the first call that throws: the session goes on without.
  EventSink on_event;
  Budget::Now now_s;  ///< empty: the steady clock
};

/// 32 hex digits that no other run has, on this machine or another.
std::string new_session_id();

/// What all rows of a session have in common; its device is stored in `log`.
Record common_row(const Task& task, const SessionOptions& options, Database& log);

/// The logs that a session works with.
struct Logs {
  Database& own;                     ///< trials and verdicts go there, and earlier ones are there
  const Database* others = nullptr;  ///< with the tasks that hint; nullptr: `own`
};

/// What its summary says from the start. `text` and `flops` are the problem's.
RunSummary begun_summary(const std::string& text, double flops, const Device& device,
                         const SessionOptions& options);

}  // namespace lehr
