// The result of a session: one value with everything that `tune --json` prints.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "database/record.h"
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
  std::int64_t ways_tried = 0, ways = 0;       ///< as Verdict::ways
  std::string missing;
};

/// Wall seconds. total = setup + search + compile + run, and the sum of the parts.
struct Elapsed {
  double total_s = 0;
  double setup_s = 0;    ///< opening the device, inputs and the expected output
  double search_s = 0;   ///< the tuner's own share: sampling, features, model, database, probes of the roofs
  double compile_s = 0;  ///< waiting for the compiler, also for the finals, with the device idle
  double run_s = 0;      ///< checking and timing, the finals included

  /// What went on, one thing at a time.
  struct Parts {
    double setup_s = 0;      ///< as above
    double hints_s = 0;      ///< reading and learning what other tasks of the log tell
    double proposals_s = 0;  ///< the rest of the search's own share
    double compile_s = 0;    ///< waiting for the compiler, but for the finals
    double trials_s = 0;     ///< checking and timing, but for the finals
    double finals_s = 0;     ///< contest, libraries, proofs, and what is compiled for them
  } parts = {};
};

struct Summary {
  std::string workload;  ///< canonical text
  std::string device;    ///< name
  std::string identity;  ///< identity text
  std::string target;
  std::string caches;  ///< cache_policy() of the device
  std::string session, strategy;
  std::uint64_t seed = 0;
  double flops = 0;  ///< of the workload

  std::optional<Trial> default_trial;  ///< nullopt: no default ran
  std::optional<Trial> best;           ///< nullopt: nothing ran
  std::optional<GpuState> gpu;         ///< while the best one was timed in the finals
  bool contested = false;  ///< the verdict comes from the interleaved finals (else from single trials)
  Verdict verdict;
  std::string checked_by;  ///< of the best one: ContestEntry::checked_by
  std::vector<BaselineTime> baselines;
  std::string
      unproven;  ///< why there is no best one, though some were timed: one sentence without a full stop
  std::string determinism;  ///< of the best one: one sentence without a full stop; "": nobody asked
  std::optional<double> roofline_fraction;  ///< Roofline::share() of the best kernel
  Peaks peaks;                              ///< that it is a share of: the most that this session has seen

  int measured = 0;  ///< trials of this session, failures included
  int timed = 0;
  int kernels = 0;    ///< sources given to the compiler in elapsed.compile_s
  int retimed = 0;    ///< windows that were timed again because the machine disturbed them
  int disturbed = 0;  ///< trials without a calm window
  int reused = 0;     ///< trials of earlier runs
  int evidence = 0;   ///< trials of other tasks that hints come from
  std::map<FailureKind, int> failed;
  std::string first_failure;  ///< text of the first failure, ""
  int fits = 0;               ///< how often the cost model was fitted
  std::uint64_t scored = 0;   ///< candidates that a model scored
  double compiling_s =
      0;  ///< the compiler was at work so long: more than elapsed.compile_s when it works ahead
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
