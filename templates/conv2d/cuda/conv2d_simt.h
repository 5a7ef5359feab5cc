// Convolution in f32 on CUDA cores as a product with the input's view (image_view.h), gathered tile by tile.
// The schedules are those of gemm_simt, including the split of the products (small maps of one image).
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves strict f32 convolutions: any filter, stride, padding and dilation; groups with nchw.
Template conv2d_simt_template();

}  // namespace lehr
