// A measurer without a machine. Outcomes are computed from the source, and time comes from a clock that tests
// own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/core/measurer.h"

namespace lehr::testing {

/// Seconds that pass only when a test advances them.
struct FakeClock {
  double now_s = 0;
};

/// A measurer with one call per candidate. A contest takes its times from `contest_us`. It counts what it was
/// called with.
class FakeMeasurer : public Measurer {
 public:
  using OutcomeOf = std::function<Outcome(const Source&)>;

  /// `outcome_of` computes the outcomes. Each trial takes `trial_s` on `clock`.
  FakeMeasurer(OutcomeOf outcome_of, FakeClock& clock, double trial_s = 0.05)
      : outcome_of_(std::move(outcome_of)), clock_(&clock), trial_s_(trial_s) {}

  void prepare(const Problem& problem, const std::optional<Problem>& other = {},
               const std::optional<PlainSource>& plain = {}) override;
  void prepare_baselines(std::map<std::string, LibrarySearch> wanted) override {
    searches = std::move(wanted);
  }
  void hold(std::span<const Source> sources, double) override {
    if (!sources.empty()) batches.emplace_back(measured.size(), sources.size());
  }
  using Measurer::measure;
  std::size_t measure(const NextSource& next, const std::function<void(std::size_t, const Outcome&)>& done,
                      TimeLeft left = {}) override;
  int in_flight() const override { return window; }
  std::vector<ContestEntry> contest(std::span<const Source> sources, std::span<const Challenger> challengers,
                                    std::span<const std::string> baselines, ContestTime time) override;
  std::optional<Failure> prove(std::size_t source, Inputs inputs, double seconds) override;
  SwapCosts swaps() const override { return {swap_s, swap_s}; }
  double reference_us() const override { return usual_us; }
  std::variant<Repetition, Failure> repeat(const Source& source) override {
    repeated.push_back(source.entry);
    return repetition;
  }
  /// Half of a trial's time is compiling, the other half is running.
  Spent spent() const override { return spent_; }

  int window = 1;  ///< returned by in_flight()
  /// True: after each trial one more source is asked for; false: `window` sources once all have outcomes.
  bool overlap = false;
  double prepare_s = 0;  ///< seconds on the clock for each prepare()
  /// Seconds of a source's trial. If empty, `trial_s`.
  std::function<double(const Source&)> seconds_of;
  /// Whether all seconds of a trial are compiling, which TimeLeft::compile_s ends.
  bool only_compiles = false;
  /// Called before each trial; tests use it to interrupt.
  std::function<void(int trial)> before_trial;
  /// Time of a source in round `round` of a contest. If empty, the time of `outcome_of`.
  std::function<double(const Source&, int round)> contest_us;
  /// Failure of a source in a contest. If empty, no source fails.
  std::function<std::optional<Failure>(const Source&)> contest_failure;
  /// Time of every baseline except "absent", which is reported as missing.
  double baseline_us = 50;
  double challenger_us = 60;
  bool finishes = true;  ///< whether a contest has the time that it needs
  double swap_s = 0;     ///< seconds on the clock for each change of inputs
  double usual_us = 0;   ///< returned by reference_us()
  /// Failure of a source when it is proven. If empty, no source fails.
  std::function<std::optional<Failure>(const std::string& entry, Inputs)> proof_failure;
  /// Seconds of one check. Half of a proof makes at least kLeastProofs checks, and takes all of its time.
  double check_s = 0;

  std::variant<Repetition, Failure> repetition;
  std::vector<std::string> repeated;  ///< entries

  int prepared = 0;
  /// Searches that prepare_baselines() was given since the last prepare().
  std::map<std::string, LibrarySearch> searches;
  std::map<std::string, LibraryFinding> findings;  ///< findings of baselines, by name
  std::map<std::string, double> overheads;         ///< ContestEntry::overhead_us of baselines, by name
  std::vector<std::string> measured;               ///< entries, in order
  /// For each batch that was compiled ahead: the number of sources measured before it, and the number of
  /// sources in it.
  std::vector<std::pair<std::size_t, std::size_t>> batches;
  std::vector<std::string> contested;  ///< entries of the last contest
  std::vector<std::string> proven;     ///< entries with "other" or "own", in order
  double last_budget_s = 0, last_most_s = 0;
  std::vector<TimeLeft> left;  ///< the time left when each of `measured` began

 private:
  OutcomeOf outcome_of_;
  FakeClock* clock_;
  double trial_s_;
  Inputs in_place_ = Inputs::kPrepared;
  Spent spent_;
};

}  // namespace lehr::testing
