#include "tune/turns.h"

#include <cmath>
#include <cstdlib>

namespace lehr {

double turn_env(const char* name, double value) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : value;
}

Turn Turns::next() {
  static const double least = turn_env("TURN_LEAST", kLeastShare), fixed = turn_env("TURN", -1);
  const double both = gains_[0] + gains_[1];
  const double share = both > 0 ? least + (1 - 2 * least) * gains_[1] / both : 0.5;
  owed_ += fixed >= 0 ? fixed : share;
  if (owed_ < 1 - 1e-9) return Turn::kTrees;
  owed_ -= 1;
  return Turn::kProcess;
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
