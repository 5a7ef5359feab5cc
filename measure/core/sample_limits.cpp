// Checks counts and times first. The interval is computed only if they allow sampling to end.
#include "measure/core/sample_limits.h"

#include <algorithm>

#include "measure/core/stats.h"

namespace lehr {

bool is_hopeless(const Samples& samples, const SampleRequest& request) {
  if (request.hopeless_us <= 0 || samples.us.empty()) return false;
  if (static_cast<int>(samples.us.size()) < request.few_samples) return false;
  return std::ranges::min(samples.us) > request.hopeless_us;
}

bool enough(const Samples& samples, double total_us, const SampleRequest& request) {
  const int count = static_cast<int>(samples.us.size());
  if (is_hopeless(samples, request)) return true;
  if (count >= request.few_samples && total_us >= request.max_total_us) return true;
  if (count < request.min_samples || total_us < request.min_total_us) return false;
  if (count == 0 || request.tolerance >= 1 || total_us >= request.tight_total_us) return true;
  const Interval interval = estimate_interval(samples.us);
  if (request.contender_us > 0 && interval.low > request.contender_us) return true;
  return interval.half_width_of(estimate(samples.us)) <= request.tolerance;
}

}  // namespace lehr
