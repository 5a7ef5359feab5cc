// Divides turns by gains: see turns.h.
#include "tune/turns.h"

#include <cmath>

namespace lehr {

Turn Turns::next() {
  const double both = gains_[0] + gains_[1];
  owed_ += both > 0 ? kLeastShare + (1 - 2 * kLeastShare) * gains_[1] / both : 0.5;
  if (owed_ < 1 - 1e-9) return Turn::kTrees;
  owed_ -= 1;
  return Turn::kGaussian;
}

void Turns::result(Turn turn, std::optional<double> time_us) {
  for (double& gain : gains_) gain *= std::exp2(-1 / kHalved);
  if (!time_us) return;
  if (best_us_ > 0 && *time_us < best_us_)
    gains_[static_cast<std::size_t>(turn)] += std::log(best_us_ / *time_us);
  other_result(*time_us);
}

void Turns::other_result(double time_us) {
  if (best_us_ == 0 || time_us < best_us_) best_us_ = time_us;
}

}  // namespace lehr
