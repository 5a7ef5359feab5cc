// Convolution with 3x3 filters on CUDA cores by minimal filtering (winograd.h), in one kernel: filters and
// inputs are transformed on their way into shared memory, the sums on their way out. Images as nchw or nhwc,
// stride 1, any padding.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_winograd_template();

}  // namespace lehr
