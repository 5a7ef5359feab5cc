// Keeps the trials.
#include "tune/trials.h"

#include <algorithm>
#include <utility>

#include "measure/core/stats.h"
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
    if (best_ == at) best_.reset();  // the best was measured again and may not be the best any more
  }
  if (!best_) {
    find_best();
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

void Trials::find_best() {
  best_.reset();
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (all_[i].time_us() && (!best_ || *all_[i].time_us() < *all_[*best_].time_us())) best_ = i;
}

void Trials::correct(const std::vector<std::size_t>& positions, double reference_us) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    auto* const timing = std::get_if<Timing>(&all_[positions[i]].outcome);
    if (timing == nullptr) continue;
    if (timing->reference_us > 0)
      timing->time_us = corrected_us(estimate(timing->samples_us), timing->reference_us, reference_us);
    else if (i == 0)
      timing->time_us = reference_us;
  }
  find_best();
}

const KnownTrial* Trials::find(const Point& point) const {
  const auto found = position_.find(point);
  return found == position_.end() ? nullptr : &all_[found->second];
}

const KnownTrial* Trials::best() const {
  return best_ ? &all_[*best_] : nullptr;
}

}  // namespace lehr
