// Every clock of a run: the limit, the time spent on each purpose, the time kept for the end.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "measure/core/measurer.h"
#include "measure/core/time_left.h"

namespace lehr {

/// Returns seconds of the steady clock.
double steady_now_s();

/// Wall seconds. `total_s` is the sum of the other four times, and also the sum of `parts`.
struct Elapsed {
  double total_s = 0;
  double setup_s = 0;    ///< opening the device, computing inputs and the expected output
  double search_s = 0;   ///< the tuner's own work: sampling, features, model, database, probes of the roofs
  double compile_s = 0;  ///< waiting for the compiler with the device idle, also for the finals
  double run_s = 0;      ///< checking and timing, the finals included

  /// The same time by phase, one phase at a time.
  struct Parts {
    double setup_s = 0;      ///< the same as Elapsed::setup_s
    double hints_s = 0;      ///< reading and learning from other tasks of the log
    double proposals_s = 0;  ///< the rest of `search_s`, which is the search's own work
    double compile_s = 0;    ///< waiting for the compiler, except for the finals
    double trials_s = 0;     ///< checking and timing, except for the finals
    double finals_s = 0;     ///< contest, libraries, proofs, and compiling for them
  } parts = {};
};

/// Purposes that time is spent on besides trials.
enum class Purpose {
  kSetup,    ///< opening the device, and putting inputs in place each time
  kHints,    ///< Elapsed::Parts::hints_s
  kDefault,  ///< the first default: compiling, checking and timing it
};

/// A time limit with its clock. It begins when it is constructed; pauses do not count.
class Budget {
 public:
  /// A clock that returns monotonic seconds.
  using Now = std::function<double()>;

  /// `limit_s`: seconds; 0: no limit. `before_s`: seconds of the limit that were spent before the run.
  /// `now_s`: the clock; if empty, steady_now_s(). Borrows `shared`, the budget that this budget is a part
  /// of, and `measurer`. Between two pauses the measurer's work counts as work of this run.
  explicit Budget(double limit_s = 0, double before_s = 0, Now now_s = {}, const Budget* shared = nullptr,
                  const Measurer* measurer = nullptr);

  bool limited() const { return limit_s_ > 0; }
  double limit_s() const { return limit_s_; }
  /// Replaces the limit by another one, above 0.
  void limit(double seconds) { limit_s_ = seconds; }
  double elapsed_s() const;
  /// Returns the seconds until the fraction `share` of the limit is spent. The result is negative after that,
  /// and kNoLimitS without a limit.
  double left_s(double share = 1) const;
  /// Keeps `seconds` for the end of the run.
  void keep(double seconds) { kept_s_ = seconds; }
  /// Keeps the larger one of `share_s` and `needed_s` for the finals, but at most half of `whole_s`.
  void keep_for_finals(double share_s, double needed_s, double whole_s);
  double kept_s() const { return kept_s_; }
  /// Returns the seconds until the kept time begins, and until the end. Both respect the shared budget, too.
  TimeLeft left() const;

  /// Adds the time since `from_s`, a value of elapsed_s(), to a purpose.
  void spend(Purpose purpose, double from_s);
  double spent_s(Purpose purpose) const;
  /// Returns the mean seconds of one of `trials` trials, all its costs included; 0: not known yet.
  double per_trial_s(int trials) const;
  /// Whether inputs are in place. They are from the end of set-up until the next pause.
  bool set_up() const { return set_up_; }
  /// Returns the seconds for putting inputs in place; 0 if they are in place.
  double inputs_s() const { return set_up_ ? 0 : inputs_s_; }
  /// Returns the time that the measurer has spent for this run.
  Spent spent() const;
  /// Returns the mean seconds of a compilation so far.
  double compile_s() const;

  void pause();
  void resume();
  bool paused() const { return !running_since_s_; }

  /// Ends the search. The finals may take `seconds`; if nullopt, they may take the time that was kept.
  void begin_finals(std::optional<double> seconds);
  /// Returns the seconds until the finals are due, and until the hard limit.
  TimeLeft finals_left() const;
  /// Returns how the time was spent. begin_finals() must have been called.
  Elapsed elapsed() const;

 private:
  double limit_s_;
  double before_s_;
  Now now_s_;
  const Budget* shared_;
  const Measurer* measurer_;
  std::optional<double> running_since_s_;
  double kept_s_ = 0;
  std::map<Purpose, double> spent_s_;
  bool set_up_ = false;
  double inputs_s_ = 0;  // seconds that putting inputs in place took last time
  // measurer's time when this turn began; this run's time in earlier turns.
  Spent measured_before_, measured_here_;
  double finals_from_s_ = 0;
  std::optional<double> finals_until_s_;
  Elapsed search_;  // elapsed() when the finals began
};

}  // namespace lehr
