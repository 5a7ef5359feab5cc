// One task from start to result: the only module that uses space, models, strategy, measurer and database
// together.
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

/// Measures the defaults, then the proposals, until a stop rule fires, and then times the finalists again. It
/// appends each trial and the verdict to the database at once. The result is never slower than the default
/// beyond noise. Given the same outcomes, the session is deterministic by seed, unless a time limit ends it.
/// Throws Error when the environment is lost (device, compiler, database); everything measured until then is
/// in the database.
class Session {
 public:
  /// Borrows `device` and the logs. Only this session may use the device's measurer from begin() or resume()
  /// to pause() or the end. `tuner` replaces the one that `options.strategy` names. CHECKs that there is a
  /// default.
  Session(Task task, Candidates candidates, const OpenDevice& device, Logs logs, SessionOptions options,
          Tuner tuner = {});
  Session(const Session&) = delete;

  Summary run();

  // The steps of run(), for sessions that take turns on one device (many_tasks.h).

  /// Reads the log's rows of this task, and measures the first default: enough for a result.
  void begin();
  /// Proposes, measures and learns some times. The first call begins with the hints of other tasks, the other
  /// defaults and the warm starts. Returns false if a stop rule has fired.
  bool round();
  /// Runs the finals and returns the result. `reason` says why there are no more rounds, if no stop rule has
  /// fired. `finals_s` is the time for the finals of a session that shares its time limit. If nullopt, the
  /// finals have the rest of the session's own time.
  Summary end(StopReason reason, std::optional<double> finals_s = std::nullopt);
  /// Call pause() before another session uses the device, and resume() when this session gets the device
  /// back. The clock stands still between the two calls. The inputs are made again when they are needed.
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
  /// Measures the winner of an earlier run, so that it takes part in the contest.
  void measure_earlier_winner();
  void warm_up();
  /// Reports what was reused and where hints come from.
  void tell_resumed(const std::string& text);
  std::size_t room_for(std::size_t wanted);
  std::optional<Proposal> propose();
  void learn(const std::vector<std::size_t>& positions);
  void probe_roof();
  Progress progress() const;
  bool out_of_budget();
  /// Returns the time that is left. Its `wanted_s` is the time until the finals are due.
  TimeLeft time_left() const;
  /// Returns the mean seconds of a trial, all its costs included; 0: not known yet.
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
  int spent_ = 0;  // trials of the budget that earlier runs, which were cut off, have spent
};

}  // namespace lehr
