// Depthwise convolution on CUDA: one filter per channel, so that the memory is the limit. Each thread
// computes a small tile of outputs of one channel (nhwc: of a few) straight from global memory. The compiler
// keeps inputs that neighbouring outputs share in registers once the taps are unrolled, and the L1 serves the
// rest.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves convolutions with as many groups as input and output channels, all tensors in f32, f16 or bf16 and
/// sums in f32.
Template conv2d_depthwise_template();

}  // namespace lehr
