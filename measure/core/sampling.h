// Times a host function: warm-up, repeats, samples.
#pragma once

#include <cstddef>
#include <functional>

#include "measure/core/runner.h"

namespace lehr {

/// Times `call` according to `request`. If `evict` is set, it runs before each sample, and a sample is one
/// call. The time of `evict` is not part of the sample, but counts for the limits of `request`. A warm-up
/// call comes first. If `evict` is empty and the warm-up call takes 0.2 s or more, it counts as a sample.
/// `threads` is the number of threads that Samples::cpu_share refers to.
Samples sample_calls(const std::function<void()>& call, const SampleRequest& request, int threads,
                     const std::function<void()>& evict = {});

}  // namespace lehr
