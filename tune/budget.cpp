#include "tune/budget.h"

#include <chrono>
#include <utility>

#include "base/error.h"

namespace lehr {

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Budget::Budget(double limit_s, double before_s, Now now_s)
    : limit_s_(limit_s),
      before_s_(before_s),
      now_s_(now_s ? std::move(now_s) : steady_now_s),
      running_since_s_(now_s_()) {}

double Budget::elapsed_s() const {
  return before_s_ + (running_since_s_ ? now_s_() - *running_since_s_ : 0);
}

double Budget::left_s(double share) const {
  return limited() ? share * limit_s_ - elapsed_s() : kNoLimitS;
}

TimeLeft Budget::left() const {
  if (!limited()) return {};
  const double left = left_s();
  return {left - kept_s_, left};
}

void Budget::pause() {
  CHECK(running_since_s_.has_value(), "paused twice");
  before_s_ = elapsed_s();
  running_since_s_.reset();
}

void Budget::resume() {
  CHECK(!running_since_s_, "resumed, but not paused");
  running_since_s_ = now_s_();
}

}  // namespace lehr
