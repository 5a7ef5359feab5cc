// The result of a session: one value with everything that `tune --json` prints.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "database/record.h"
#include "tune/budget.h"
#include "tune/finals.h"
#include "tune/roofline.h"
#include "tune/stop.h"
#include "tune/task.h"

namespace lehr {

struct BaselineTime {
  std::string name;
  Time time;  ///< us 0: not timed, `missing` says why
  /// The library's time divided by the best kernel's; 0: not timed.
  Ratio speedup;
  std::optional<GpuState> gpu = std::nullopt;  ///< while it was timed
  std::string note;                            ///< how it was run: "OPENBLAS_CORETYPE=SkylakeX"; else ""
  std::int64_t algorithms_tried = 0, algorithms = 0;  ///< as Verdict::algorithms
  double overhead_us = 0;                             ///< Checked::overhead_us
  std::string missing;
};

/// One of our kernels in the contest, with its result.
struct FinalistReport {
  std::string config, record;
  double shown_us = 0;  ///< its time in the search
  double time_us = 0;   ///< microseconds in the contest; 0: not timed
  int rounds = 0;
  bool dropped = false;  ///< whether it was dropped after `rounds` as one of the slower ones
  ProofState proof = ProofState::kNone;
  double turns_s = 0, proof_s = 0;  ///< wall seconds of loading and rounds; of the proof
  std::string missing;              ///< why it has no time
};

/// The common part of the summaries of one size and of a range.
struct RunSummary {
  std::string workload;  ///< canonical text
  std::string device;    ///< its name
  std::string identity;  ///< text of the device's identity
  std::string target;
  std::string caches;  ///< cache_policy() of the device
  std::string session, strategy;
  std::uint64_t seed = 0;
  double flops = 0;  ///< operations of the workload; for a range, of a call with the most rows; 0: not known

  int measured = 0;  ///< trials of this session, failures included
  int timed = 0;
  int disturbed = 0;  ///< trials without a calm window
  std::map<FailureKind, int> failed = {};
  std::string first_failure = {};  ///< text of the first failure; "" if nothing failed
};

struct Summary : RunSummary {
  /// Measurer::in_flight(). Together with the seed it decides which results are known at each pick.
  int in_flight = 0;

  std::optional<Trial> default_trial;  ///< nullopt: no default ran
  std::optional<Trial> best;           ///< nullopt: nothing ran
  std::optional<GpuState> gpu;         ///< while the best kernel was timed in the finals
  /// Whether the verdict comes from interleaved finals; if false, from single trials.
  bool contested = false;
  Verdict verdict;
  double shown_us = 0;  ///< the best kernel's time in the search; 0: not known
  std::vector<FinalistReport> finalists;
  /// The session whose verdict this is, if there was no time to time its winner again; "": this session.
  std::string earlier;
  std::string checked_by;  ///< ContestEntry::checked_by of the best kernel
  std::vector<BaselineTime> baselines;
  /// Why there is no best kernel, though some were timed: one sentence without a full stop.
  std::string unproven;
  /// How deterministic the best kernel is, one sentence without a full stop; "": not asked for
  std::string determinism;
  std::optional<double> roofline_fraction;  ///< Roofline::share() of the best kernel
  /// The highest rates that this session has seen; `roofline_fraction` is a fraction of them.
  Peaks peaks;

  int kernels = 0;           ///< number of sources given to the compiler in elapsed.compile_s
  int retimed = 0;           ///< number of windows that were timed again because the machine disturbed them
  int reused = 0;            ///< number of reused trials of earlier runs
  int evidence = 0;          ///< number of trials of other tasks that hints come from
  int fits = 0;              ///< number of fits of the cost model
  std::uint64_t scored = 0;  ///< number of candidates that a model scored
  /// Seconds that the compiler worked. They exceed elapsed.compile_s if it compiles ahead.
  double compiling_s = 0;
  Elapsed elapsed;
  StopReason stop = StopReason::kTrials;
  std::string stop_text;
  std::string resume_text;  ///< what was reused and where hints come from; "" if nothing was
};

/// Returns the seconds that the device idled after the set-up while it waited for the compiler and the
/// search.
double device_idle_s(const Elapsed& elapsed);

/// Returns the document of `tune --json`. Unknown numbers are null.
nlohmann::json to_json(const Summary& summary);
/// Writes [low, high], or null if the interval is not known.
void to_json(nlohmann::json& document, const Interval& interval);

/// Returns the GFLOP/s of `flops` operations that take `time_us`.
double gflops_of(double flops, double time_us);

}  // namespace lehr
