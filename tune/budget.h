// Every clock of a run: what was asked for, what is spent on what, what is kept for the end.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "measure/core/measurer.h"
#include "measure/core/time_left.h"

namespace lehr {

/// Seconds of the steady clock.
double steady_now_s();

/// Wall seconds. total = setup + search + compile + run, and the sum of the parts.
struct Elapsed {
  double total_s = 0;
  double setup_s = 0;    ///< opening the device, inputs and the expected output
  double search_s = 0;   ///< the tuner's own share: sampling, features, model, database, probes of the roofs
  double compile_s = 0;  ///< waiting for the compiler, also for the finals, with the device idle
  double run_s = 0;      ///< checking and timing, the finals included

  /// What went on, one thing at a time.
  struct Parts {
    double setup_s = 0;      ///< as above
    double hints_s = 0;      ///< reading and learning what other tasks of the log tell
    double proposals_s = 0;  ///< the rest of the search's own share
    double compile_s = 0;    ///< waiting for the compiler, but for the finals
    double trials_s = 0;     ///< checking and timing, but for the finals
    double finals_s = 0;     ///< contest, libraries, proofs, and what is compiled for them
  } parts = {};
};

/// What time goes to beside trials.
enum class Purpose {
  kSetup,    ///< the device, and inputs each time that they are put in place
  kHints,    ///< Elapsed::Parts::hints_s
  kDefault,  ///< the first default: compiled, checked, timed
};

/// A time that was asked for. It begins when it is made; pauses do not count.
class Budget {
 public:
  /// Monotonic seconds.
  using Now = std::function<double()>;

  /// `limit_s` 0: no limit. `before_s` of it were spent before. `now_s` empty: steady_now_s(). Borrows what
  /// follows: a time of which it is a part, and the measurer, whose work is counted between the pauses.
  explicit Budget(double limit_s = 0, double before_s = 0, Now now_s = {}, const Budget* shared = nullptr,
                  const Measurer* measurer = nullptr);

  bool limited() const { return limit_s_ > 0; }
  double limit_s() const { return limit_s_; }
  /// Another limit from now on, above 0.
  void limit(double seconds) { limit_s_ = seconds; }
  double elapsed_s() const;
  /// Until a share of the limit is spent; negative behind it, kNoLimitS without one.
  double left_s(double share = 1) const;
  /// So much is kept for what comes last.
  void keep(double seconds) { kept_s_ = seconds; }
  /// Keeps a share, or what is needed where that is more, but half of `whole_s` at most.
  void keep_for_finals(double share_s, double needed_s, double whole_s);
  double kept_s() const { return kept_s_; }
  /// Until what is kept is due, and until the end; of the time that it is a part of, too.
  TimeLeft left() const;

  /// Time since `from_s` of elapsed_s() went to that.
  void spend(Purpose purpose, double from_s);
  double spent_s(Purpose purpose) const;
  /// Mean seconds of so many trials, with all that they take; 0: not known yet.
  double per_trial_s(int trials) const;
  /// Whether inputs are in place: once set-up was spent, until the next pause.
  bool set_up() const { return set_up_; }
  /// Seconds to put inputs in place: 0 if they are.
  double inputs_s() const { return set_up_ ? 0 : inputs_s_; }
  /// What the measurer has spent.
  Spent spent() const;
  /// Mean seconds of a compilation so far.
  double compile_s() const;

  void pause();
  void resume();
  bool paused() const { return !running_since_s_; }

  /// The search is over. The finals may take `seconds`, or without them what was kept.
  void begin_finals(std::optional<double> seconds);
  /// Until they are due, and until more would be too much.
  TimeLeft finals_left() const;
  /// Where the time went; the finals have begun.
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
  double inputs_s_ = 0;                    // the last time
  Spent measured_before_, measured_here_;  // by all until this turn; by this run in earlier turns
  double finals_from_s_ = 0;
  std::optional<double> finals_until_s_;
  Elapsed search_;  // as elapsed() when the finals began
};

}  // namespace lehr
