// Times a host function: warm-up, repeats, samples.
#pragma once

#include <cstddef>
#include <functional>

#include "measure/core/runner.h"

namespace lehr {

/// Times `call` as `request` says. If `evict` is set, it runs before each sample, which is then one call; its
/// time counts for the limits but not for the sample. A warm-up call comes first. If nothing is evicted and
/// it takes 0.2 s or more, it is a sample itself. `threads` is what Samples::cpu_share relates CPU time to.
Samples sample_calls(const std::function<void()>& call, const SampleRequest& request, int threads,
                     const std::function<void()>& evict = {});

}  // namespace lehr
