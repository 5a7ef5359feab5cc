// Timing of a host function: warm-up, repeats, samples.
#pragma once

#include <cstddef>
#include <functional>

#include "measure/core/runner.h"

namespace lehr {

/// Calls `call` as SampleRequest says. `evict` (empty: caches stay warm) runs before each sample, which is
/// then one call; its time counts for the limits, and not for the sample. A call to warm up comes first; one
/// of 0.2 s and more is a sample itself, where nothing is evicted. `threads`: what Samples::cpu_share relates
/// CPU time to.
Samples sample_calls(const std::function<void()>& call, const SampleRequest& request, int threads,
                     const std::function<void()>& evict = {});

}  // namespace lehr
