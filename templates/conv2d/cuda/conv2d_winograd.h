// Convolution with 3x3 filters on CUDA cores by minimal filtering (winograd.h), in one kernel. Filters and
// inputs are transformed while they are copied to shared memory, and the sums while they are written to the
// output. Images as nchw or nhwc, stride 1, any padding.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_winograd_template();

}  // namespace lehr
