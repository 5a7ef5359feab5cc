// One task from start to result: the only place where space, model, strategy, measurer and database meet.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/model.h"
#include "costmodel/validity_model.h"
#include "database/database.h"
#include "measure/core/measurer.h"
#include "search/strategy.h"
#include "tune/events.h"
#include "tune/proposer.h"
#include "tune/roofline.h"
#include "tune/stop.h"
#include "tune/summary.h"
#include "tune/task.h"

namespace lehr {

inline constexpr std::string_view kUnfused = "unfused";

struct SessionOptions {
  StopRules stop;
  std::uint64_t seed = 0;
  int threads = 1;                  ///< for lowering and features
  std::string strategy = "anneal";  ///< the name that is stored with its picks
  /// Asked to take part in the finals. kUnfused: a kernel without the epilogue, and the epilogue behind it;
  /// it has nothing to say where there is no such pair (Candidates::unfused).
  std::vector<std::string> baselines;
  bool reuse = true;     ///< earlier rows of this workload answer
  bool transfer = true;  ///< rows of other tasks hint
  std::size_t finalists = 16;
  /// Of the space: measured with the first default, whatever the budget and the log.
  std::vector<Point> wanted;
  bool check_determinism = false;  ///< the winner runs twice on the same input, and its bits are compared
  LearnerOptions learner;
  BatchSchedule batches;
  double before_s = 0;      ///< of the time limit, spent before: opening the device; part of the set-up
  double shared_s = 0;      ///< its part of a time that several sessions share; 0: it shares none
  RowOf row_of;             ///< features; empty: of the lowered kernels
  std::size_t columns = 0;  ///< of `row_of`
  std::string session_id;   ///< unique: names this run in the database
  std::string tool_version;
};

/// What a session works with; all borrowed, all outlive the call.
struct SessionParts {
  Measurer* measurer = nullptr;
  Strategy* strategy = nullptr;
  Database* database = nullptr;
  /// The log with the other tasks; nullptr: `database`.
  const Database* transfer_from = nullptr;
  /// Fitted as trials arrive; nullptr: the strategy works without scores.
  CostModel* model = nullptr;
  /// Learns from failures; nullptr: nothing does.
  ValidityModel* validity = nullptr;
  /// Scores before the first fit; nullptr: none.
  const CostModel* prior = nullptr;
  /// nullptr: never.
  const std::atomic<bool>* interrupted = nullptr;
  /// May be empty.
  EventSink on_event;
  /// That several sessions share: `wanted_s` until there are no more rounds. Empty: no limit.
  std::function<TimeLeft()> time_left = {};
  /// Monotonic seconds; empty: the steady clock.
  std::function<double()> now_s;
  /// Asked now and then while no kernel runs; empty: never.
  Prober prober = {};
  /// bound_of(): asked before a time is called implausible; empty: never.
  std::function<double()> bound = {};
};

/// Measures the defaults, then what the strategy wants, until a stop rule fires; re-times the finalists;
/// appends every trial and the verdict to the database at once. The result is never slower than the default
/// beyond noise. Deterministic by seed given the same outcomes, as long as no time limit cuts it. Throws
/// Error when the environment is lost (device, compiler, database); everything measured until then is in the
/// database.
Summary run_session(const Task& task, const Candidates& candidates, const SessionOptions& options,
                    const SessionParts& parts);

}  // namespace lehr
