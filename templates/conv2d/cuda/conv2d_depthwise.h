// Depthwise convolution on CUDA. Each filter reads one channel, so that memory is the limit. Each thread
// computes a small tile of outputs of one channel (with nhwc, of a few channels) directly from global memory.
// Once the taps are unrolled, the compiler keeps inputs in registers that neighbouring outputs share, and the
// L1 serves the other repeated reads.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves convolutions in which the numbers of groups, input channels and output channels are equal. All
/// tensors are in f32, f16 or bf16, and sums in f32.
Template conv2d_depthwise_template();

}  // namespace lehr
