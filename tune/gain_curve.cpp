#include "tune/gain_curve.h"

#include <algorithm>

namespace lehr {
namespace {

/// Microseconds that are assumed for a task of which nothing ran.
constexpr double kNothingRanUs = 1e6;

/// Returns the microseconds that the next turn is expected to save.
double next_gain_us(const TaskState& task) {
  return task.occurrences * (task.best_us > 0 ? task.best_us * task.curve.next_gain() : kNothingRanUs);
}

}  // namespace

void GainCurve::add_turn(double before_us, double after_us, double seconds) {
  before_last_ = last_;
  last_ = before_us > 0 ? std::clamp(1 - after_us / before_us, 0.0, 1.0) : 0;
  ++own_;
  turns_ += 1;
  seconds_ = own_ == 1 ? seconds : 0.5 * (seconds_ + seconds);
}

double GainCurve::next_gain() const {
  const double average = kFirst / ((1 + turns_) * (1 + turns_));
  const double own = own_ == 0 ? 0 : 0.5 * (own_ == 1 ? last_ : 0.5 * (last_ + before_last_));
  return std::max(own, average);
}

std::optional<std::size_t> next_task(std::span<const TaskState> tasks, double least_gain) {
  double sum_us = 0, sum_s = 0;
  int timed = 0;
  for (const TaskState& each : tasks) {
    sum_us += each.occurrences * each.best_us;
    sum_s += each.curve.seconds_per_turn(0);
    timed += each.curve.seconds_per_turn(0) > 0 ? 1 : 0;
  }
  const double usual_s = timed > 0 ? sum_s / timed : 1;
  std::optional<std::size_t> best;
  double best_rate = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const TaskState& each = tasks[i];
    const double gain_us = next_gain_us(each);
    const double rate = gain_us / each.curve.seconds_per_turn(usual_s);
    if (!each.may_go_on || gain_us < least_gain * sum_us || rate <= best_rate) continue;
    best = i;
    best_rate = rate;
  }
  return best;
}

}  // namespace lehr
