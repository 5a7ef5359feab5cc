// Convolution of nhwc images by the schedules of gemm_wgmma. The tensor memory accelerator reads the input as
// the rows of its im2col matrix, including strides and padding, so that the kernel computes no addresses.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves nhwc images without groups on sm_90a, in the types of gemm_wgmma except tf32. Channels must be a
/// multiple of 16 bytes, strides at most 8 and padding at most 128, and filters may reach at most 128 pixels
/// beyond their padding.
Template conv2d_wgmma_template();

}  // namespace lehr
