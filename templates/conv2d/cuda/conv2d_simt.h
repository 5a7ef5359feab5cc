// Convolution in f32 on CUDA cores as a product with the view of the input (image_view.h), gathered tile by
// tile. The schedules are those of gemm_simt. They may split k, which helps for small images.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves strict f32 convolutions with any filter, stride, padding and dilation. Groups are served with nchw
/// only.
Template conv2d_simt_template();

}  // namespace lehr
