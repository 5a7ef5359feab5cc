// The end of a session: who takes part, the contest and the proofs, and the verdict.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tune/evaluator.h"
#include "tune/open_device.h"
#include "tune/roofline.h"
#include "tune/run_finals.h"
#include "tune/session_options.h"
#include "tune/trials.h"

namespace lehr {

/// What belongs to the session whose finals they are.
struct FinalsParts {
  const Task& task;
  const Candidates& candidates;
  const OpenDevice& device;
  const Logs& logs;
  const SessionOptions& options;
  Budget& budget;
  const Trials& trials;
  Roofline& roofline;
  Evaluator& evaluator;
  Summary& summary;               ///< gets what they find
  std::function<void()> prepare;  ///< puts the inputs in place, unless they are
};

class Finals {
 public:
  /// Borrows the parts.
  explicit Finals(const FinalsParts& of);

  /// What others are compared with: the first default that ran.
  void choose_default();
  const std::optional<Point>& the_default() const { return default_; }
  /// The verdict of an earlier run that still holds: its winner takes part.
  void recall_verdict();
  const Point* earlier_winner() const { return earlier_ ? &earlier_winner_ : nullptr; }
  /// Tells the measurer what the log knows of libraries' searches, and how long each may search.
  void prepare_libraries(double search_s);

  /// Has the budget keep their time: more than their share where a contest with its proofs needs more.
  void keep_time() const;
  /// Estimates the seconds that they need at least: a contest of two finalists, and both proofs.
  double least_s() const;
  /// nullopt: nothing to decide, or no time for it.
  std::optional<FinalsPlan> plan() const;
  /// Where that is so.
  void conclude_from_trials();
  /// The contest and the proofs; `first` is plan().
  void run(const FinalsPlan& first);
  void check_determinism();

 private:
  /// What they may take from now on, and whether more would be too much.
  TimeLeft left() const;
  std::optional<FinalsPlan> plan(const std::vector<Point>& points) const;
  /// The default first, then the fastest trials.
  std::vector<Point> finalists() const;
  /// All of them measured (and so checked) by this session.
  std::vector<Point> entrants(std::vector<Point> points, double seconds);
  FinalsSides sides_of(const std::vector<Point>& points) const;
  /// Whether an earlier run's verdict stays where there was no contest.
  bool earlier_verdict_stands() const;
  void tell_earlier_verdict();
  void conclude_from_contest(const std::vector<Point>& points, const FinalsResult& result);
  void refuse(const ContestEntry& entry);

  const FinalsParts of_;
  std::optional<Point> default_;
  std::optional<StoredVerdict> earlier_;  // proven, by another run of this task on this device, ...
  Point earlier_winner_;                  // ... and its winner
  SwapCosts swaps_;                       // Measurer::swaps()
  bool libraries_prepared_ = false;
};

}  // namespace lehr
