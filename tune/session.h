// One task from start to result: the only place where space, models, strategy, measurer and database meet.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "database/database.h"
#include "tune/budget.h"
#include "tune/evaluator.h"
#include "tune/events.h"
#include "tune/open_device.h"
#include "tune/roofline.h"
#include "tune/run_finals.h"
#include "tune/searcher.h"
#include "tune/stop.h"
#include "tune/summary.h"
#include "tune/task.h"
#include "tune/trials.h"

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

/// What all rows of a session have in common; its device is stored in `log`.
Record common_row(const Task& task, const SessionOptions& options, Database& log);

/// The logs that a session works with.
struct Logs {
  Database& own;                     ///< trials and verdicts go there, and earlier ones are there
  const Database* others = nullptr;  ///< with the tasks that hint; nullptr: `own`
};

/// Measures the defaults, then what the strategy wants, until a stop rule fires; re-times the finalists;
/// appends every trial and the verdict to the database at once. The result is never slower than the default
/// beyond noise. Deterministic by seed given the same outcomes, as long as no time limit cuts it. Throws
/// Error when the environment is lost (device, compiler, database); everything measured until then is in the
/// database.
class Session {
 public:
  /// Borrows `device` (whose measurer has nothing else to do from begin() or resume() on to pause() or the
  /// end) and the logs. `tuner`: in the place of the one that `options.strategy` names; CHECKs that there is
  /// a default.
  Session(Task task, Candidates candidates, const OpenDevice& device, Logs logs, SessionOptions options,
          Tuner tuner = {});
  Session(const Session&) = delete;

  Summary run();

  // What run() is made of, for sessions that take turns on one device (many_tasks.h).

  /// The log's rows of this task, and the first default: enough for an answer.
  void begin();
  /// The first time what other tasks of the log tell, the other defaults and the warm starts; then proposes,
  /// measures and learns some times. false: a stop rule has fired, or did before.
  bool round();
  /// The finals and the verdict; `reason` is why there are no more rounds, where no stop rule has fired.
  /// `finals_s`: what the finals may take, of a session that shares its time; else they have the rest of its
  /// own.
  Summary end(StopReason reason, std::optional<double> finals_s = std::nullopt);
  /// Before another session uses the device, and when it is this one's again: its clock stands still
  /// meanwhile. The inputs are made again when they are needed.
  void pause();
  void resume();

  const Trials& trials() const { return trials_; }
  double setup_s() const { return setup_s_; }
  double elapsed_s() const { return budget_.elapsed_s(); }
  /// Estimates the seconds that its finals need at least: a contest of two finalists, and both proofs.
  double least_finals_s() const;

 private:
  // session.cpp
  void prepare();
  void recall_rows();
  void recall_spent(const std::vector<Record>& rows);
  void recall_tasks();
  void measure_first_default();
  /// The winner of an earlier run, so that it takes part in the contest.
  void measure_earlier_winner();
  void warm_up();
  void choose_default();
  /// Of what was reused and what gives hints.
  void tell_resumed(const std::string& text);
  std::size_t room_for(std::size_t wanted) const;
  std::optional<Proposal> propose();
  void measure(std::span<const Proposal> picks);
  void learn(const std::vector<std::size_t>& positions);
  void probe_roof();
  std::string why_implausible(const Point& point, double time_us);
  /// A trial's time as it is told: no sample of it was faster, and no device is.
  Time shown(const KnownTrial& trial) const;
  Progress progress() const;
  double finals_kept_s() const;
  bool out_of_budget();
  /// `wanted_s`: until the finals are due.
  TimeLeft time_left() const;
  /// Of a trial, with all that it takes; 0: not known yet.
  double seconds_per_trial() const;
  bool interrupted() const { return device_.stopped(); }
  void report(EventKind kind, std::string note);
  Spent spent() const;
  // session_end.cpp
  std::vector<std::string> libraries() const;
  /// Tells the measurer what the log knows of libraries' searches, and how long each may search.
  void prepare_libraries(double search_s);
  void remember_algorithms(const ContestEntry& library);
  void finals();
  /// What the finals may take from now on, and whether more would be too much.
  TimeLeft finals_left() const;
  /// Mean seconds of a compilation so far.
  double compile_s_each() const;
  std::optional<FinalsPlan> plan(const std::vector<Point>& points) const;
  /// The default first, then the fastest trials.
  std::vector<Point> finalists() const;
  /// All of them measured (and so checked) by this session.
  std::vector<Point> entrants(std::vector<Point> points, double seconds);
  FinalsSides sides_of(const std::vector<Point>& points) const;
  /// Whether the unfused pair is asked for, and the pair with the fastest schedule of `points` that has one.
  bool wants_unfused() const;
  std::optional<Challenger> unfused(std::vector<Point> points) const;
  /// The pair takes part, or is told as missing.
  void add_unfused(const std::vector<Point>& points, const FinalsPlan& plan, FinalsSides& sides);
  void conclude_from_trials();
  /// Whether an earlier run's verdict stays where there was no contest.
  bool earlier_verdict_stands() const;
  void tell_earlier_verdict();
  void check_determinism();
  std::string stop_text(const Progress& at_stop) const;
  void tell_where_time_went(Elapsed& elapsed) const;
  void conclude_from_contest(const std::vector<Point>& points, const FinalsResult& result);
  void tell_finalists(const std::vector<Point>& points, const FinalsResult& result);
  void tell_libraries(std::span<const ContestEntry> entries, const ContestEntry& winner);
  void refuse(const ContestEntry& entry);
  void summarize(const Progress& at_stop);
  void append_verdict();

  const Task task_;
  const Candidates candidates_;
  const OpenDevice& device_;
  const Logs logs_;
  const SessionOptions options_;
  Budget budget_;
  Spent spent_before_, spent_here_;  // by all until this turn; by this session in earlier turns
  Trials trials_;
  Roofline roofline_;
  Searcher searcher_;
  Evaluator evaluator_;
  std::optional<Transfer> transfer_;
  bool warmed_up_ = false;
  bool libraries_prepared_ = false;  // since prepare()
  bool model_expects_gain_ = true;
  std::optional<StopReason> stop_;
  std::optional<Point> default_;          // the first default that ran in this session
  std::optional<StoredVerdict> earlier_;  // proven, by another run of this task on this device, ...
  Point earlier_winner_;                  // ... and its winner
  double setup_s_ = 0, inputs_s_ = 0, hints_s_ = 0;
  SwapCosts swaps_;  // Measurer::swaps()
  bool prepared_ = false;
  double first_default_s_ = 0;  // compiled, checked, timed
  double finals_from_s_ = 0;    // when the search had ended, ...
  Spent spent_by_search_;       // ... and what it had spent
  double setup_by_search_s_ = 0;
  std::optional<double> finals_until_s_;              // by elapsed_s(); of a session that shares its time
  std::array<double, 2> probe_cost_s_ = {0.02, 0.1};  // by Roof: guessed, then what the last one took
  double probing_s_ = 0;
  int spent_ = 0;  // of the budget of trials, by earlier runs that were cut off
  Summary summary_;
};

}  // namespace lehr
