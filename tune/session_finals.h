// The end of a session: chooses the participants, runs the contest and the proofs, and forms the verdict.
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

/// The session's parts that its finals use.
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
  Summary& summary;               ///< receives the results
  std::function<void()> prepare;  ///< puts the inputs in place if they are not in place
};

class Finals {
 public:
  /// Borrows all members of `of`.
  explicit Finals(const FinalsParts& of);

  /// Chooses the first default that ran. All other kernels are compared with it.
  void choose_default();
  const std::optional<Point>& the_default() const { return default_; }
  /// Reads the log for a verdict of an earlier run that still holds. If there is such a verdict, its winner
  /// takes part in the contest.
  void recall_verdict();
  const Point* earlier_winner() const { return earlier_ ? &earlier_winner_ : nullptr; }
  /// Passes to the measurer the algorithms that earlier searches of the libraries have found, as the log has
  /// them. Sets how long each library may search: `search_s` seconds.
  void prepare_libraries(double search_s);

  /// Reserves time for the finals in the budget. The reserved time is finals_share_s(), or more if a contest
  /// and its proofs need more.
  void keep_time() const;
  /// Estimates the shortest duration of the finals in seconds: a contest of two finalists, and both proofs.
  double least_s() const;
  /// Returns the plan of the finals. Returns nullopt if there is nothing to decide, or if there is no time
  /// for a contest.
  std::optional<FinalsPlan> plan() const;
  /// Forms the verdict from single trials. For use when plan() has returned nullopt.
  void conclude_from_trials();
  /// Runs the contest and the proofs; `first` is plan()'s result.
  void run(const FinalsPlan& first);
  void check_determinism();

 private:
  /// Returns the seconds that the finals should take from now on (`wanted_s`) and may take at most
  /// (`most_s`).
  TimeLeft left() const;
  std::optional<FinalsPlan> plan(const std::vector<Point>& points) const;
  /// Returns the default, then the fastest trials.
  std::vector<Point> finalists() const;
  /// Measures, for about `seconds`, those points that only earlier runs have measured. Returns all points
  /// that this session has measured, because their outputs have been checked.
  std::vector<Point> entrants(std::vector<Point> points, double seconds);
  FinalsSides sides_of(const std::vector<Point>& points) const;
  /// Whether the verdict of an earlier run remains valid if this session had no contest.
  bool earlier_verdict_stands() const;
  void tell_earlier_verdict();
  void conclude_from_contest(const std::vector<Point>& points, const FinalsResult& result);
  void refuse(const ContestEntry& entry);

  const FinalsParts of_;
  std::optional<Point> default_;
  std::optional<StoredVerdict> earlier_;  // a proven verdict of another run of this task on this device
  Point earlier_winner_;                  // the winner of `earlier_`
  SwapCosts swaps_;                       // Measurer::swaps()
  bool libraries_prepared_ = false;
};

}  // namespace lehr
