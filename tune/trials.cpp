// Book-keeping of trials.
#include "tune/trials.h"

#include <algorithm>
#include <utility>

#include "tune/stop.h"

namespace lehr {

std::size_t Trials::add(KnownTrial trial) {
  const std::optional<double> time = trial.time_us();
  if (trial.origin == Origin::kHere) {
    ++measured_;
    ++since_gain_;
    if (time) ++timed_;
    if (const auto* failure = std::get_if<Failure>(&trial.outcome)) ++failed_[failure->kind];
  } else if (trial.origin == Origin::kEarlier) {
    ++reused_;
    if (time) ++reused_timed_;
  }
  const auto [found, inserted] = position_.try_emplace(trial.point, all_.size());
  const std::size_t at = found->second;
  if (inserted) {
    all_.push_back(std::move(trial));
  } else {
    all_[at] = std::move(trial);
    if (best_ == at) best_.reset();  // the best was measured again and may have lost its place
  }
  if (!best_) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].time_us() && (!best_ || *all_[i].time_us() < *all_[*best_].time_us())) best_ = i;
  } else if (time && *time < *all_[*best_].time_us()) {
    best_ = at;
  }
  if (best_) {
    const double best_us = *all_[*best_].time_us();
    if (gain_from_us_ == 0 || best_us < gain_from_us_ * (1 - kPlateauGain)) {
      gain_from_us_ = best_us;
      since_gain_ = 0;
    }
  }
  return at;
}

const KnownTrial* Trials::find(const Point& point) const {
  const auto found = position_.find(point);
  return found == position_.end() ? nullptr : &all_[found->second];
}

const KnownTrial* Trials::best() const {
  return best_ ? &all_[*best_] : nullptr;
}

}  // namespace lehr
