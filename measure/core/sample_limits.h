// Decides when a candidate has been sampled enough: one rule for the CPU and for CUDA.
#pragma once

#include "measure/core/runner.h"

namespace lehr {

/// Whether all of `samples`, at least a few, are slower than `request` allows. Only samples count: a first
/// call meets cold caches and, on a GPU, a graph that is uploaded first, and may take ten times as long.
bool is_hopeless(const Samples& samples, const SampleRequest& request);

/// Whether `samples`, which took `total_us` together, are all that `request` asks for. First come as many as
/// a time needs against short disturbances (min_samples, min_total_us); then more, until the 95 % interval of
/// the time is tight, its time is up, or the whole interval is above the time of interest. A hopeless
/// candidate, or one that takes longer than max_total_us, gets few.
bool enough(const Samples& samples, double total_us, const SampleRequest& request);

}  // namespace lehr
