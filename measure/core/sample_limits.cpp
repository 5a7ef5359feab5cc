// Counts and times first: the interval is only looked at when they allow an end.
#include "measure/core/sample_limits.h"

#include "measure/core/stats.h"

namespace lehr {

bool enough(const Samples& samples, double total_us, const SampleRequest& request) {
  const int count = static_cast<int>(samples.us.size());
  if (count >= request.few_samples && (samples.hopeless || total_us >= request.max_total_us)) return true;
  if (count < request.min_samples || total_us < request.min_total_us) return false;
  if (count == 0 || request.tolerance >= 1 || total_us >= request.tight_total_us) return true;
  const Interval interval = estimate_interval(samples.us);
  if (request.contender_us > 0 && interval.low > request.contender_us) return true;
  return interval.half_width_of(estimate(samples.us)) <= request.tolerance;
}

}  // namespace lehr
