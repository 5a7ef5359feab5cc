// The gains of a task's search so far, the gain that its next turn promises, and the choice of the task that
// gets the next turn.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lehr {

class GainCurve {
 public:
  /// `turns`: trials of earlier runs, counted in turns.
  explicit GainCurve(double turns = 0) : turns_(turns) {}

  /// Adds a turn that took the task's best time from `before_us` to `after_us` in `seconds`.
  void add_turn(double before_us, double after_us, double seconds);

  /// Returns the fraction of the best time that the next turn is expected to save, in [0, 1]. It is half of
  /// the mean of the last two turns, since curves flatten. It is at least the gain of an average curve after
  /// the same number of turns, kFirst / (1 + turns)^2, so that one unlucky turn does not end a task.
  double next_gain() const;
  /// Returns the mean seconds of a turn so far, or `otherwise` before the first turn.
  double seconds_per_turn(double otherwise) const { return seconds_ > 0 ? seconds_ : otherwise; }
  double turns() const { return turns_; }

  /// Fraction of the default's time that the first turn saved on a CPU, about a fifth (bench/models).
  static constexpr double kFirst = 0.2;

 private:
  double turns_;
  double last_ = 0, before_last_ = 0;  // fractions of the best time that the last two turns saved
  int own_ = 0;
  double seconds_ = 0;
};

/// A task among others that share their time.
struct TaskState {
  double occurrences = 1;  ///< number of times that the task occurs in the whole that is to become faster
  /// Microseconds of one occurrence; 0: nothing ran yet, so the whole time can be gained.
  double best_us = 0;
  GainCurve curve = GainCurve();
  bool may_go_on = true;  ///< false: it gets no more turns
};
/// Returns the task whose next turn is expected to save the largest fraction of the sum of all tasks' times
/// per second. Returns nullopt if no turn saves the fraction `least_gain` of the sum. A task without a turn
/// is assumed to take the other tasks' mean time per turn.
std::optional<std::size_t> next_task(std::span<const TaskState> tasks, double least_gain);

}  // namespace lehr
