// What a task's search has given so far, what its next turn promises, and which of several tasks gets the
// next turn.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace lehr {

class GainCurve {
 public:
  /// `turns`: what earlier runs have measured already, in turns' worth.
  explicit GainCurve(double turns = 0) : turns_(turns) {}

  /// A turn took the task's best time from `before_us` to `after_us` in so many seconds.
  void add_turn(double before_us, double after_us, double seconds);

  /// The share of its best time that the next turn is expected to save, in [0, 1]. Half of the mean of the
  /// last two turns, since curves flatten, but not less than what an average curve gives after so many turns,
  /// kFirst / (1 + turns)^2: one unlucky turn does not end a task.
  double next_gain() const;
  /// Of the last turns; `otherwise` before the first one.
  double seconds_per_turn(double otherwise) const { return seconds_ > 0 ? seconds_ : otherwise; }
  double turns() const { return turns_; }

  /// Behind the defaults the first turn of a CPU's task saved about a fifth (bench/models).
  static constexpr double kFirst = 0.2;

 private:
  double turns_;
  double last_ = 0, before_last_ = 0;  // shares that were saved
  int own_ = 0;
  double seconds_ = 0;
};

/// A task among others that share their time.
struct TaskState {
  double occurrences = 1;  ///< in what is to become faster
  double best_us = 0;      ///< of one occurrence; 0: nothing ran yet, so that everything is to be gained
  GainCurve curve = GainCurve();
  bool may_go_on = true;  ///< false: it gets no turn
};
/// The task whose next turn is expected to save most of the sum of all times per second; nullopt where none
/// saves `least_gain` of the sum. A turn of a task that had none takes as long as the others' on average.
std::optional<std::size_t> next_task(std::span<const TaskState> tasks, double least_gain);

}  // namespace lehr
