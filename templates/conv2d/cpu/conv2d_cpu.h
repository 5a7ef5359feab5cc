// Convolution on the CPU without an im2col matrix. Vectors run over output pixels, and filter values are
// broadcast. The input is copied once, padded and divided by the stride, so that every filter tap is a shift
// of the same memory. NCHW, any stride, padding, dilation and groups.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_cpu_template();

}  // namespace lehr
