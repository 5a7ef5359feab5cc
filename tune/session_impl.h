// The state of one running session, for tune/ alone (others run it by run_session() or TaskRun): session.cpp
// holds its beginning and its rounds, session_end.cpp its finals and its summary.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tune/evaluator.h"
#include "tune/proposer.h"
#include "tune/roofline.h"
#include "tune/session.h"
#include "tune/trials.h"

namespace lehr {

class Session {
 public:
  /// Borrows everything until run() returns. CHECKs that the parts are there.
  Session(const Task& task, const Candidates& candidates, const SessionOptions& options,
          const SessionParts& parts);
  Session(const Session&) = delete;

  Summary run();

  // What run() is made of, for sessions that take turns on one measurer (many_tasks.h).

  /// The log's rows of this task, and the first default: enough for an answer.
  void begin();
  /// The first time what other tasks of the log tell, the other defaults and the warm starts; then proposes,
  /// measures and learns once. false: a stop rule has fired, or did before.
  bool round();
  /// The finals and the verdict; `reason` is why there are no more rounds, where no stop rule has fired.
  /// `finals_s`: what the finals may take, of a session that shares its time; else they have the rest of its
  /// own.
  Summary end(StopReason reason, std::optional<double> finals_s = std::nullopt);
  /// Before another session uses the measurer, and when it is this one's again: its clock stands still
  /// meanwhile. The inputs are made again when they are needed.
  void pause();
  void resume();

  const Trials& trials() const { return trials_; }
  double setup_s() const { return setup_s_; }
  double elapsed_s() const { return elapsed_before_s_ + (paused_ ? 0 : parts_.now_s() - started_s_); }

 private:
  // session.cpp
  void prepare();
  void recall_rows();
  void recall_spent(const std::vector<Record>& rows);
  void recall_tasks();
  void measure_first_default();
  void warm_up();
  void choose_default();
  void tell_that_hints_were_dropped();
  std::size_t batch_size(std::size_t wanted) const;
  std::vector<Proposal> propose(std::size_t count);
  void measure(std::span<const Proposal> picks);
  void learn(const std::vector<std::size_t>& positions);
  void probe_roof();
  Progress progress() const;
  bool out_of_budget();
  /// `wanted_s`: until the finals are due.
  TimeLeft time_left() const;
  /// Of a trial, with all that it takes; 0: not known yet.
  double seconds_per_trial() const;
  bool interrupted() const { return parts_.interrupted && parts_.interrupted->load(); }
  void report(EventKind kind, std::string note);
  Spent spent() const;
  // session_end.cpp
  std::vector<std::string> libraries() const;
  /// What they may spend on their searches, and what the log knows of these.
  void prepare_libraries();
  void remember_ways(const ContestEntry& library);
  void finals();
  /// What the finals may take from now on, and whether more would be too much.
  TimeLeft finals_left() const;
  std::size_t finalists(const TimeLeft& left) const;
  std::vector<Point> entrants(std::size_t finalists, double seconds);
  std::vector<Challenger> challengers(const std::vector<Point>& points) const;
  void conclude_from_trials();
  void check_determinism();
  std::string stop_text(const Progress& at_stop) const;
  void tell_where_time_went(Elapsed& elapsed) const;
  /// `entries`: of the points, then of challengers and libraries.
  void conclude_from_contest(std::vector<Point> points, std::vector<ContestEntry> entries);
  void refuse(const Failure& failure);
  void summarize(const Progress& at_stop);
  void append_verdict();

  const Task& task_;
  const Candidates& candidates_;
  const SessionOptions& options_;
  const SessionParts parts_;
  double started_s_;  // or resumed
  double elapsed_before_s_ = 0;
  bool paused_ = false;
  Spent spent_before_, spent_here_;  // by all until this turn; by this session in earlier turns
  Trials trials_;
  Roofline roofline_;
  Evaluator evaluator_;
  RowOf row_of_;
  Scorer scorer_;
  Learner learner_;
  Proposer proposer_;
  Seen seen_;  // the configs of all trials
  std::optional<Transfer> transfer_;
  bool warmed_up_ = false;
  bool libraries_prepared_ = false;  // since prepare()
  bool model_expects_gain_ = true;
  std::optional<StopReason> stop_;
  std::optional<Point> default_;  // the first default that ran in this session
  std::vector<Point> warm_starts_;
  double setup_s_ = 0, inputs_s_ = 0, hints_s_ = 0;
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
