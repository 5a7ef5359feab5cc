// Tunes one task, from the first measurement to the verdict. This is the only module that uses space, models,
// strategy, measurer and database together.
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

/// Measures the defaults first, and then proposals until a stop rule fires. At the end it times the finalists
/// again. The session appends each trial, and the verdict, to the database as soon as it is known. The result
/// is never slower than the default beyond noise. Given the same outcomes, the session is deterministic by
/// seed, unless a time limit ends it. Throws Error if the device, the compiler or the database fails. All
/// trials measured before the failure are in the database.
class Session {
 public:
  /// Borrows `device` and the logs. From begin() or resume() to pause() or end(), no other session may use
  /// the device's measurer. `tuner` replaces the tuner that `options.strategy` names. CHECKs that
  /// `candidates` has a default.
  Session(Task task, Candidates candidates, const OpenDevice& device, Logs logs, SessionOptions options,
          Tuner tuner = {});
  Session(const Session&) = delete;

  Summary run();

  // The steps of run(), for sessions that take turns on one device (many_tasks.h).

  /// Reads the log's rows of this task, and measures the first default. After that the session has a result.
  void begin();
  /// Repeats several times: proposes candidates, measures them, and learns from the outcomes. The first call
  /// begins with the hints from other tasks, the remaining defaults and the warm starts. Returns false if a
  /// stop rule has fired.
  bool round();
  /// Runs the finals and returns the result. If no stop rule has fired, `reason` states why there are no more
  /// rounds. `finals_s` is the time for the finals of a session that shares its time limit with other
  /// sessions. If `finals_s` is nullopt, the finals may use the rest of the session's own time.
  Summary end(StopReason reason, std::optional<double> finals_s = std::nullopt);
  /// Call pause() before another session uses the device, and resume() when this session may use the device
  /// again. The time between the two calls does not count against the session's time limit. The inputs are
  /// made again when they are needed.
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
  /// Returns the time that is left. Its member `wanted_s` is the time until the finals must begin.
  TimeLeft time_left() const;
  /// Returns the mean duration of a trial in seconds, with all costs of the trial; 0: not known yet.
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
  int spent_ = 0;  // trials of the budget that earlier, interrupted runs have spent
};

}  // namespace lehr
