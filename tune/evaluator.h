// Measures picks: emits each, measures it, and appends its outcome to the database as soon as it is known.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "database/database.h"
#include "measure/core/measurer.h"
#include "tune/resume.h"
#include "tune/searcher.h"
#include "tune/task.h"
#include "tune/trials.h"

namespace lehr {

class Evaluator {
 public:
  /// Explains in a clause why a time cannot be that of the config's kernel; returns "" if it can. A trial
  /// with an implausible time has failed.
  using WhyImplausible = std::function<std::string(const Point&, double time_us)>;

  /// Borrows everything. `row` has the columns that all rows of the session share. After a trial is stored,
  /// `on_trial(trial, is_new_best)` is called.
  Evaluator(const Candidates& candidates, Measurer& measurer, Database& database, Record row, Trials& trials,
            WhyImplausible why_implausible, std::function<void(const Trial&, bool)> on_trial);

  /// Returns the next pick to measure, or nullopt if there is no pick now.
  using NextPick = std::function<std::optional<Proposal>()>;

  /// Measures the picks that `next` returns until it returns nullopt. `next` is called whenever
  /// Measurer::measure() asks for a source, and once more for each pick that need not be measured. A pick
  /// that cannot be emitted counts as failed. A pick with the same source as an earlier pick of this session
  /// takes over its outcome. For each new trial `known(at)` is called with the trial's position in
  /// trials.all(), before `next` is called again. `abandon` is called before each pick and after each trial;
  /// if it returns true, the remaining picks are given up.
  void measure(const NextPick& next, const std::function<void(std::size_t)>& known,
               const std::function<bool()>& abandon, TimeLeft left = {});
  /// Measures `picks`. Returns the positions of their trials in trials.all().
  std::vector<std::size_t> measure(std::span<const Proposal> picks, const std::function<bool()>& abandon,
                                   TimeLeft left = {});

  /// Returns the source of a config that was measured successfully. CHECKs that the config can be emitted.
  Source source_of(const Point& point) const;

  /// Begins a new reference kernel. Later candidates are timed next to it.
  void begin_reference() { beside_.clear(); }

  const std::string& first_failure() const { return first_failure_; }

  /// Takes over how many workers each config has killed in earlier runs. When a row of this session raises a
  /// config's count to two, the row says that the config is quarantined.
  void remember(Deaths deaths) { deaths_ = std::move(deaths); }
  /// Whether `point` must not be run again.
  bool quarantined(const Point& point) const;
  /// Records the failure of a finalist in the finals. It gets a row of its own, and replaces the config's
  /// timing.
  void record_failure(const Point& point, const Failure& failure);

 private:
  std::size_t record(const Proposal& pick, std::uint64_t source_hash, Outcome outcome);
  std::size_t record_twin(const Proposal& pick, std::size_t of);
  /// Whether the trial is the fastest of all that are known.
  bool is_best(std::size_t at) const { return trials_->best() == &trials_->all()[at]; }

  const Candidates* candidates_;
  Measurer* measurer_;
  Database* database_;
  Record row_;
  Trials* trials_;
  WhyImplausible why_implausible_;
  std::function<void(const Trial&, bool)> on_trial_;
  std::unordered_map<std::uint64_t, std::size_t>
      by_source_;  // hash of a measured source -> position of its trial
  /// Positions of the trials that were timed next to the current reference kernel. The reference kernel's own
  /// trial is first.
  std::vector<std::size_t> beside_;
  Deaths deaths_;
  std::string first_failure_;
};

}  // namespace lehr
