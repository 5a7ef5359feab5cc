// Convolution on tensor cores as a product with the input's view (image_view.h): the ring of tiles, fragments
// and mma.sync of gemm_mma, whose copies of A gather the taps of the filters.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves nhwc convolutions without groups in the types of gemm_mma (never strict f32): any filter, stride,
/// padding and dilation.
Template conv2d_mma_template();

}  // namespace lehr
