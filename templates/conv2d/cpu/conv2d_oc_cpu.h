// Convolution on the CPU with vectors across output channels: input values are broadcast, so that a stride is
// free. The filters are laid out once, before the first launch (ir::Kernel::prepack). Images as nchw or nhwc;
// any stride, padding, dilation and groups.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_oc_cpu_template();

}  // namespace lehr
