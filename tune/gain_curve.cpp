#include "tune/gain_curve.h"

#include <algorithm>

namespace lehr {

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

}  // namespace lehr
