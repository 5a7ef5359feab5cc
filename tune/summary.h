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
  std::int64_t algorithms_tried = 0, algorithms = 0;  ///< as Verdict::algorithms
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
  /// Canonical text.
  std::string workload;
  /// Name.
  std::string device;
  /// Identity text.
  std::string identity;
  std::string target;
  /// cache_policy() of the device.
  std::string caches;
  std::string session, strategy;
  std::uint64_t seed = 0;
  int slots = 0;  ///< Measurer::slots(): with the seed it decides what is picked after which results
  /// Of the workload.
  double flops = 0;

  /// nullopt: no default ran.
  std::optional<Trial> default_trial;
  /// nullopt: nothing ran.
  std::optional<Trial> best;
  /// While the best one was timed in the finals.
  std::optional<GpuState> gpu;
  /// The verdict comes from the interleaved finals (else from single trials).
  bool contested = false;
  Verdict verdict;
  /// The best one's time as the search had shown it; 0: not known.
  double shown_us = 0;
  std::vector<FinalistTold> finalists;
  /// The session whose verdict this is, because there was no time to time its winner again; "": this one's.
  std::string earlier;
  /// Of the best one: ContestEntry::checked_by.
  std::string checked_by;
  std::vector<BaselineTime> baselines;
  /// Why there is no best one, though some were timed: one sentence without a full stop.
  std::string unproven;
  /// Of the best one: one sentence without a full stop; "": nobody asked.
  std::string determinism;
  /// Roofline::share() of the best kernel.
  std::optional<double> roofline_fraction;
  /// That it is a share of: the most that this session has seen.
  Peaks peaks;

  /// Trials of this session, failures included.
  int measured = 0;
  int timed = 0;
  /// Sources given to the compiler in elapsed.compile_s.
  int kernels = 0;
  /// Windows that were timed again because the machine disturbed them.
  int retimed = 0;
  /// Trials without a calm window.
  int disturbed = 0;
  /// Trials of earlier runs.
  int reused = 0;
  /// Trials of other tasks that hints come from.
  int evidence = 0;
  std::map<FailureKind, int> failed;
  /// Text of the first failure, "".
  std::string first_failure;
  /// How often the cost model was fitted.
  int fits = 0;
  /// Candidates that a model scored.
  std::uint64_t scored = 0;
  /// The compiler was at work so long: more than elapsed.compile_s when it works ahead.
  double compiling_s = 0;
  Elapsed elapsed;
  StopReason stop = StopReason::kTrials;
  std::string stop_text;
  /// What was reused and where hints come from, "" when nothing was there.
  std::string resume_text;
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
