// When a candidate has been sampled enough: one rule for the CPU and for CUDA.
#pragma once

#include "measure/core/runner.h"

namespace lehr {

/// Whether all of `samples`, a few at least, are slower than what `request` calls hopeless. Of samples only:
/// a first call meets cold caches and, on a GPU, a graph that has to be uploaded, and may take ten times its
/// time.
bool is_hopeless(const Samples& samples, const SampleRequest& request);

/// Whether `samples`, which took `total_us` together, are all that `request` asks for. First as many as a
/// time needs against short disturbances (min_samples, min_total_us); then more, until the 95 % interval of
/// the time is tight, or its time is up, or the whole interval is above what is of interest. A hopeless
/// candidate, and one that takes longer than max_total_us, gets few.
bool enough(const Samples& samples, double total_us, const SampleRequest& request);

}  // namespace lehr
