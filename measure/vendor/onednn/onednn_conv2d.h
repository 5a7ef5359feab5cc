// oneDNN's convolution through its C API, version 2.
#pragma once

#include <vector>

#include "measure/vendor/onednn/onednn_way.h"
#include "workload/conv2d/conv2d.h"

namespace lehr::onednn {

/// The ways in which oneDNN can compute one f32 convolution, each ready to be called. The filter is laid out
/// as each way likes it beforehand, outside of the calls, as the library means it to be used.
/// "plain direct": input and output as they are; "blocked direct": copied to and from the layout that the
/// library prefers, inside of the call; "... winograd" where it has that.
/// `library` is dlopen's. `x`, `f` and `y` outlive the ways. Throws Error(kEnvironment) when the library has
/// no such API (versions before and after 2), Error(kUser) when it refuses the convolution.
std::vector<Way> conv2d_ways(void* library, const Conv2d& conv, float* x, float* f, float* y);

}  // namespace lehr::onednn
