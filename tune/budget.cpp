#include "tune/budget.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "tune/stop.h"

namespace lehr {

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Budget::Budget(double limit_s, double before_s, Now now_s, const Budget* shared, const Measurer* measurer)
    : limit_s_(limit_s),
      before_s_(before_s),
      now_s_(now_s ? std::move(now_s) : steady_now_s),
      shared_(shared),
      measurer_(measurer),
      running_since_s_(now_s_()),
      spent_s_{{Purpose::kSetup, before_s}},
      measured_before_(measurer ? measurer->spent() : Spent()) {}

double Budget::elapsed_s() const {
  return before_s_ + (running_since_s_ ? now_s_() - *running_since_s_ : 0);
}

double Budget::left_s(double share) const {
  return limited() ? share * limit_s_ - elapsed_s() : kNoLimitS;
}

void Budget::keep_for_finals(double share_s, double needed_s, double whole_s) {
  constexpr double kMostShare = 0.5;
  keep(std::max(share_s, std::min(needed_s, kMostShare * whole_s)));
}

TimeLeft Budget::left() const {
  constexpr double kUsualCompileS = 1;  // seconds that a compilation may take even if the limit is exceeded
  const TimeLeft shared = shared_ ? shared_->left() : TimeLeft();
  const double most_s = left_s();
  const double wanted_s = std::min(shared.wanted_s, most_s - (limited() ? kept_s_ : 0));
  return {wanted_s, std::min(shared.most_s, most_s), std::max(wanted_s, kUsualCompileS)};
}

void Budget::spend(Purpose purpose, double from_s) {
  const double seconds = elapsed_s() - from_s;
  spent_s_[purpose] += seconds;
  if (purpose != Purpose::kSetup) return;
  set_up_ = true;
  inputs_s_ = seconds;
}

double Budget::spent_s(Purpose purpose) const {
  const auto found = spent_s_.find(purpose);
  return found == spent_s_.end() ? 0 : found->second;
}

double Budget::per_trial_s(int trials) const {
  if (trials == 0) return 0;
  return (elapsed_s() - spent_s(Purpose::kSetup) - spent_s(Purpose::kHints)) / trials;
}

Spent Budget::spent() const {
  return paused() ? measured_here_ : measured_here_ + (measurer_->spent() - measured_before_);
}

double Budget::compile_s() const {
  const Spent so_far = spent();
  return so_far.kernels > 0 ? so_far.compiling_s / so_far.kernels : 0;
}

void Budget::pause() {
  CHECK(running_since_s_.has_value(), "paused twice");
  if (measurer_) measured_here_ = spent();
  before_s_ = elapsed_s();
  running_since_s_.reset();
  set_up_ = false;
}

void Budget::resume() {
  CHECK(!running_since_s_, "resumed, but not paused");
  running_since_s_ = now_s_();
  if (measurer_) measured_before_ = measurer_->spent();
}

void Budget::begin_finals(std::optional<double> seconds) {
  finals_from_s_ = elapsed_s();
  search_ = elapsed();
  if (seconds) finals_until_s_ = finals_from_s_ + *seconds;
}

TimeLeft Budget::finals_left() const {
  const double now_s = elapsed_s();
  if (finals_until_s_) return {*finals_until_s_ - now_s, *finals_until_s_ - now_s};
  const double begun_s = now_s - finals_from_s_;
  if (!limited()) return {.wanted_s = finals_share_s(0, finals_from_s_) - begun_s};
  return {std::min(limit_s_ - now_s, kept_s_ - begun_s), limit_s_ - now_s};
}

Elapsed Budget::elapsed() const {
  const Spent spent = this->spent();
  Elapsed elapsed;
  elapsed.total_s = elapsed_s();
  elapsed.setup_s = spent_s(Purpose::kSetup) + spent.prepare_s;
  elapsed.run_s = spent.run_s;
  elapsed.compile_s = spent.compile_s;
  elapsed.search_s = std::max(0.0, elapsed.total_s - elapsed.setup_s - elapsed.run_s - elapsed.compile_s);
  Elapsed::Parts& parts = elapsed.parts;
  parts.setup_s = elapsed.setup_s;
  parts.hints_s = spent_s(Purpose::kHints);
  parts.compile_s = search_.compile_s;
  parts.trials_s = search_.run_s;
  parts.proposals_s = finals_from_s_ - search_.setup_s - parts.hints_s - parts.compile_s - parts.trials_s;
  parts.finals_s = elapsed.total_s - finals_from_s_ - (elapsed.setup_s - search_.setup_s);
  return elapsed;
}

}  // namespace lehr
