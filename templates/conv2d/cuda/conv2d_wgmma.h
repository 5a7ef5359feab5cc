// Convolution of nhwc images by the schedules of gemm_wgmma: the tensor memory accelerator reads the input as
// the rows of its im2col matrix, with strides and padding, and no kernel computes an address.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves, on sm_90a: nhwc without groups, of the types of gemm_wgmma but tf32, with channels of a multiple
/// of 16 bytes, strides up to 8, padding up to 128, and filters that reach 128 pixels beyond what pads them.
Template conv2d_wgmma_template();

}  // namespace lehr
