// Decides when a candidate has been sampled enough: one rule for the CPU and for CUDA.
#pragma once

#include "measure/core/runner.h"

namespace lehr {

/// Whether there are at least `few_samples` samples and all are slower than `request.hopeless_us`. Warm-up
/// calls do not count: a first call meets cold caches and, on a GPU, a graph that is uploaded first, and may
/// take ten times as long.
bool is_hopeless(const Samples& samples, const SampleRequest& request);

/// Whether `samples`, which took `total_us` together, are enough for `request`. The minimum number and time
/// (min_samples, min_total_us) average out short disturbances. Then more samples are taken until the 95 %
/// interval of the time is tight, tight_total_us is exceeded, or the whole interval is above contender_us. A
/// hopeless candidate, or a candidate that exceeds max_total_us, gets only few_samples.
bool enough(const Samples& samples, double total_us, const SampleRequest& request);

}  // namespace lehr
