// The Measurer of this machine. It compiles in this process or its workers and runs candidates in worker
// processes.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "measure/core/compiler.h"
#include "measure/core/measurer.h"
#include "measure/core/runner.h"
#include "measure/system/temp_dir.h"
#include "measure/worker/compile_ahead.h"
#include "measure/worker/contest.h"
#include "measure/worker/kept_binaries.h"
#include "measure/worker/worker.h"

namespace lehr {

struct LocalOptions {
  WorkerOptions worker;
  /// Limits of the device that candidates run on. `limits.target` selects the Backend.
  Limits limits;
  RunSettings settings;
  /// Allows up to half a window more for candidates that need it: 15 samples of 1 ms leave an error of 1.5 %
  /// on a calm shared machine.
  SampleRequest sampling = {.tolerance = 0.01};
  /// A candidate whose first samples are slower than the best time by this factor gets few samples; 0: no
  /// such rule.
  double hopeless_factor = 4;
  /// A candidate that is surely slower than the best time by this factor is not timed to
  /// `sampling.tolerance`; 0: all are.
  double contender_factor = 1.1;
  /// Whether times are corrected by the reference kernel.
  bool use_reference = true;
  /// Seconds for loading, checking and timing a candidate, in addition to the time of kCallsOfATrial calls of
  /// the fastest candidate so far. After that its process is killed.
  double run_timeout_s = 10;
  /// Number of sources that are compiled at once.
  int compile_jobs = 1;
  /// Whether the next sources are compiled while a candidate is timed. If false, a batch is compiled, then
  /// its candidates are timed one by one while nothing is compiled. On a GPU `true` is right: the host only
  /// has to queue graphs in time, and one core is left free for that. On a CPU the compiler takes cores,
  /// cache, memory bandwidth and clock from the timed candidate. The effect is within the noise only if
  /// threads and compile jobs leave a core free (while four compilers ran on two cores, single trials came
  /// out twice too fast or too slow, 2026-11-21). So the default is false.
  bool overlap = false;
  /// Number of binaries kept for a contest: those of the fastest candidates, which then need not be compiled
  /// again.
  std::size_t kept_binaries = 24;
  /// Folder for the problem's file; "": as TempDir chooses.
  std::string temp_base;
};

/// Number of calls of the fastest candidate in three disturbed windows and one window that confirms them,
/// each window with a check. A candidate that is four times as slow can make the calls of a check and of the
/// fewest samples in the same time.
inline constexpr int kCallsOfATrial = 50;

/// A candidate has three deadlines: for its compilation (HostCompilerOptions, WorkerCompilerOptions), for
/// waiting for a ready worker (WorkerOptions; exceeding it is the environment's fault), and for its run. A
/// binary is deleted as soon as its kernel is timed, except for the binaries of the fastest kernels and of
/// the reference kernel.
class LocalMeasurer : public Measurer {
 public:
  /// `compiler` must outlive this object. Nothing is started yet.
  LocalMeasurer(Compiler& compiler, LocalOptions options);
  ~LocalMeasurer() override;

  void prepare(const Problem& problem, const std::optional<Problem>& other = {},
               const std::optional<PlainSource>& plain = {}) override;
  void prepare_baselines(std::map<std::string, LibrarySearch> searches) override;
  void hold(std::span<const Source> sources, double most_s) override;
  using Measurer::measure;
  std::size_t measure(const NextSource& next, const std::function<void(std::size_t, const Outcome&)>& done,
                      TimeLeft left = {}) override;
  /// Returns LocalOptions::compile_jobs. With overlap one more source is in flight: the source that is timed.
  int in_flight() const override { return options_.compile_jobs + (options_.overlap ? 1 : 0); }
  std::vector<ContestEntry> contest(std::span<const Source> sources, std::span<const Challenger> challengers,
                                    std::span<const std::string> baselines, ContestTime time) override;
  std::optional<Failure> prove(std::size_t source, Inputs inputs, double seconds) override;
  SwapCosts swaps() const override;
  double reference_us() const override { return reference_ && !replaced_ ? reference_->session_us : 0; }
  std::variant<Repetition, Failure> repeat(const Source& source) override;
  Spent spent() const override;
  std::string checked_by() const override { return worker_.checked_by(); }

 private:
  /// The sources that `next` of a measure() call has returned.
  struct Given;
  void take_more(Given& given, const NextSource& next);
  void begin_compiling(const Source& source, Deadline end);
  Compiled finish_compiling();
  void drop_compiling();
  /// Compiles sources. Compilations are stopped at `end` (Compiler::compile()).
  std::vector<Compiled> compile(std::span<const Source> sources, Deadline end);
  std::vector<Compiled> compile_unless_kept(std::span<const Source> sources, Deadline end);
  /// Returns a copy of a binary that hold() keeps. The caller deletes the copy.
  Binary copy_of(const Binary& held);
  void drop_reference();
  /// Adds one more window of the reference kernel.
  void reference_took(double us);
  Outcome run(const Source& source, const Binary& binary, Deadline wanted, Deadline end);
  Outcome failed(const Binary& binary, Failure failure);
  /// Runs one attempt of prove().
  std::optional<Failure> disproof(std::size_t source, const std::string& problem,
                                  const ProveRequest& request);
  /// Deletes the files that the last contest has compiled.
  void end_contest();
  /// Returns the sources for checks on the device. They must be compiled before the worker is prepared. Empty
  /// if results are checked on the host.
  std::vector<Source> check_sources() const;
  /// Sends the problem and the compiled check_sources() to the worker.
  void prepare_worker(std::vector<Compiled> checks);
  /// Compiles check_sources() and does the same, if measure() has not done so.
  void prepare_worker();
  /// A baseline that is ready, or the reason why it is not.
  struct Baselined {
    Participant participant;
    std::unique_ptr<Worker> worker;
  };
  /// Estimates the seconds until a new process has loaded a library and has the problem.
  double library_s() const;
  /// Estimates, from the times of prepare(), the seconds for putting inputs in place.
  SwapCosts estimated_swaps() const;
  /// Starts a baseline. Tries as many of its variants as there is time for, at least one.
  Baselined start_baseline(const std::string& name, const ContestOptions& options, Deadline end);
  void start_baselines();
  ContestOptions contest_options() const;
  /// Returns the participants that are our kernels.
  std::vector<Participant> our_participants(std::span<const Source> ours, std::size_t sources,
                                            std::span<const Challenger> challengers,
                                            const std::vector<Compiled>& compiled);
  /// Starts the libraries named `names` as long as they fit before `end`.
  void add_baselines(std::vector<Participant>& participants, std::span<const std::string> names,
                     std::vector<std::unique_ptr<Worker>>& workers, ContestOptions options, Deadline end);

  /// Returns the seconds after which a candidate's process is killed: LocalOptions::run_timeout_s plus the
  /// time of kCallsOfATrial calls.
  double run_limit_s() const;

  LocalOptions options_;
  Compiler& compiler_;
  CompileAhead ahead_;  ///< only used with LocalOptions::overlap
  /// The sources given to `ahead_`; it compiles only those that are not held.
  std::deque<Source> ahead_sources_;
  TempDir directory_;
  Worker worker_;
  PrepareRequest prepared_;               ///< its path is empty before prepare()
  std::string other_path_;                ///< path of the problem to prove on; empty: no such problem
  std::optional<PlainSource> plain_;      ///< nullopt: the host checks
  bool worker_prepared_ = false;          ///< whether worker_ was prepared since prepare()
  std::vector<std::string> check_paths_;  ///< files of the compiled checks for the device
  Problem problem_;                       ///< without values
  int problems_ = 0;
  KeptBinaries kept_;
  KeptBinaries held_ = KeptBinaries(0);            ///< binaries kept by hold(), all pinned
  int copies_ = 0;                                 ///< number of copies made of held binaries
  std::map<std::string, LibrarySearch> searches_;  ///< search limits of baselines, by name
  bool start_early_ = false;  ///< whether baselines are to be started during the next compilation
  std::map<std::string, Baselined> started_;  ///< baselines that were started and wait for a contest
  std::optional<ReferenceKernel> reference_;  ///< reference kernel; kept_ owns its file
  std::vector<double> reference_windows_us_;  ///< times of reference_, one per window
  bool replaced_ = false;                     ///< whether reference_ is not the first one since prepare()
  /// The last contest's sources, until something else is measured.
  std::vector<LoadRequest> loads_;
  std::vector<int> loaded_;                 ///< Participant::loaded of each of loads_
  std::vector<std::string> contest_files_;  ///< files that were compiled for the last contest only
  /// Path of the problem whose inputs are in place, according to the last request to the worker.
  std::string inputs_path_;
  SwapCosts swapped_;  ///< costs of the last swaps; 0: never done
  int deaths_ = 0;     ///< number of worker processes lost in a row
  /// Time of the fastest candidate; 0: nothing was timed since prepare().
  double best_us_ = 0;
  Spent spent_;
};

}  // namespace lehr
