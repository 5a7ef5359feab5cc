// Convolution of nhwc images by the schedules of gemm_wgmma. The tensor memory accelerator reads the input as
// the rows of its im2col matrix, with strides and padding, so that the kernel computes no addresses.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves, on sm_90a: nhwc without groups, in the types of gemm_wgmma except tf32, with channels of a
/// multiple of 16 bytes, strides up to 8, padding up to 128, and filters that reach at most 128 pixels beyond
/// their padding.
Template conv2d_wgmma_template();

}  // namespace lehr
