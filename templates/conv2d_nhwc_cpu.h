// Convolution of nhwc images on the CPU: a product of pixels by output channels whose left operand is
// gathered. Vectors run across output channels, input values are broadcast. Any stride, padding, dilation and
// groups.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_nhwc_cpu_template();

}  // namespace lehr
