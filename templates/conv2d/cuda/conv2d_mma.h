// Convolution on tensor cores as a product with the view of the input (image_view.h). The kernel is that of
// gemm_mma, but the copies of the view's tiles gather pixels for the taps of the filter.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves convolutions in the types of gemm_mma (never strict f32) with any filter, stride, padding, dilation
/// and groups, except depthwise ones. With nchw, types of 16 and 8 bits are gathered element by element
/// through registers, because neighbouring pixels share no aligned word.
Template conv2d_mma_template();

}  // namespace lehr
