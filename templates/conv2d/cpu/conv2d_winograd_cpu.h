// Convolution with 3x3 filters on the CPU by minimal filtering (winograd.h). It needs 2.25 or 4 times fewer
// products, but has to transform inputs and outputs. Vectors run across channels, so that all lanes are used
// on small images, too. The filters are transformed once, before the first launch (ir::Kernel::prepack).
// Images as nchw or nhwc, stride 1, any padding.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_winograd_cpu_template();

}  // namespace lehr
