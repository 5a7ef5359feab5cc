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
  Time time;                                   ///< us 0: not timed, `missing` says why
  Ratio speedup;                               ///< how much faster the best kernel is; 0: not timed
  std::optional<GpuState> gpu = std::nullopt;  ///< while it was timed
  std::string note;                            ///< how it was run: "OPENBLAS_CORETYPE=SkylakeX", else ""
  std::int64_t algorithms_tried = 0, algorithms = 0;  ///< as Verdict::algorithms
  double overhead_us = 0;                             ///< Checked::overhead_us
  std::string missing;
};

/// One of our kernels in the contest, and what became of it.
struct FinalistTold {
  std::string config, record;
  double shown_us = 0;  ///< by the search
  double time_us = 0;   ///< in the contest; 0: it was not timed
  int rounds = 0;
  bool dropped = false;  ///< after these, as one of the slower ones
  ProofState proof = ProofState::kNone;
  double turns_s = 0, proof_s = 0;  ///< wall time of loading and rounds, and of the proof
  std::string missing;              ///< why it has no time
};

/// What summaries of one size and of a range say.
struct RunSummary {
  std::string workload;  ///< canonical text
  std::string device;    ///< name
  std::string identity;  ///< text
  std::string target;
  std::string caches;  ///< cache_policy() of the device
  std::string session, strategy;
  std::uint64_t seed = 0;
  double flops = 0;  ///< of the workload, of a range of a call with the most rows; 0: not known

  int measured = 0;  ///< trials of this session, failures included
  int timed = 0;
  int disturbed = 0;  ///< trials without a calm window
  std::map<FailureKind, int> failed = {};
  std::string first_failure = {};  ///< text of the first failure, ""
};

struct Summary : RunSummary {
  int slots = 0;  ///< Measurer::slots(): with the seed it decides what is picked after which results

  std::optional<Trial> default_trial;  ///< nullopt: no default ran
  std::optional<Trial> best;           ///< nullopt: nothing ran
  std::optional<GpuState> gpu;         ///< while the best one was timed in the finals
  bool contested = false;  ///< the verdict comes from the interleaved finals (else from single trials)
  Verdict verdict;
  double shown_us = 0;  ///< the best one's time as the search had shown it; 0: not known
  std::vector<FinalistTold> finalists;
  /// The session whose verdict this is, because there was no time to time its winner again; "": this one's.
  std::string earlier;
  std::string checked_by;  ///< of the best one: ContestEntry::checked_by
  std::vector<BaselineTime> baselines;
  /// Why there is no best one, though some were timed: one sentence without a full stop.
  std::string unproven;
  std::string determinism;  ///< of the best one: one sentence without a full stop; "": nobody asked
  std::optional<double> roofline_fraction;  ///< Roofline::share() of the best kernel
  Peaks peaks;                              ///< that it is a share of: the most that this session has seen

  int kernels = 0;           ///< sources given to the compiler in elapsed.compile_s
  int retimed = 0;           ///< windows that were timed again because the machine disturbed them
  int reused = 0;            ///< trials of earlier runs
  int evidence = 0;          ///< trials of other tasks that hints come from
  int fits = 0;              ///< how often the cost model was fitted
  std::uint64_t scored = 0;  ///< candidates that a model scored
  /// The compiler was at work so long: more than elapsed.compile_s when it works ahead.
  double compiling_s = 0;
  Elapsed elapsed;
  StopReason stop = StopReason::kTrials;
  std::string stop_text;
  std::string resume_text;  ///< what was reused and where hints come from, "" when nothing was there
};

/// Seconds in which the device stood still after the setup: for the compiler, and for the search.
double device_idle_s(const Elapsed& elapsed);

/// The document of `tune --json`. Unknown numbers are null.
nlohmann::json to_json(const Summary& summary);
/// [low, high]; null when it is not known.
void to_json(nlohmann::json& document, const Interval& interval);

/// Gigaflops per second of operations that take so many microseconds.
double gflops_of(double flops, double time_us);

}  // namespace lehr
