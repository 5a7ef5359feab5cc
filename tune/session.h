// One task from start to result: the only place where space, models, strategy, measurer and database meet.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tune/budget.h"
#include "tune/evaluator.h"
#include "tune/roofline.h"
#include "tune/searcher.h"
#include "tune/session_finals.h"
#include "tune/session_options.h"
#include "tune/trials.h"

namespace lehr {

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
  void pause() { budget_.pause(); }
  void resume() { budget_.resume(); }

  const Trials& trials() const { return trials_; }
  double setup_s() const { return budget_.spent_s(Purpose::kSetup); }
  double least_finals_s() const { return finals_.least_s(); }

 private:
  void prepare();
  void recall_rows();
  void recall_spent(const std::vector<Record>& rows);
  void recall_tasks();
  void measure_first_default();
  /// The winner of an earlier run, so that it takes part in the contest.
  void measure_earlier_winner();
  void warm_up();
  /// Of what was reused and what gives hints.
  void tell_resumed(const std::string& text);
  std::size_t room_for(std::size_t wanted);
  std::optional<Proposal> propose();
  void learn(const std::vector<std::size_t>& positions);
  void probe_roof();
  Progress progress() const;
  bool out_of_budget();
  /// `wanted_s`: until the finals are due.
  TimeLeft time_left() const;
  /// Of a trial, with all that it takes; 0: not known yet.
  double seconds_per_trial() const { return budget_.per_trial_s(trials_.measured()); }
  bool interrupted() const { return device_.stopped(); }
  void report(EventKind kind, std::string note);
  std::string stop_text(const Progress& at_stop) const;
  void summarize(const Progress& at_stop);
  void append_verdict();

  const Task task_;
  const Candidates candidates_;
  const OpenDevice& device_;
  const Logs logs_;
  const SessionOptions options_;
  Budget budget_;
  Trials trials_;
  Roofline roofline_;
  Searcher searcher_;
  Evaluator evaluator_;
  Summary summary_;
  Finals finals_;
  std::optional<Transfer> transfer_;
  bool warmed_up_ = false;
  bool model_expects_gain_ = true;
  std::optional<StopReason> stop_;
  int spent_ = 0;  // of the budget of trials, by earlier runs that were cut off
};

}  // namespace lehr
