// Depthwise convolution on the CPU: each filter reads one channel. Vectors run along the line (nchw) or
// across channels (nhwc). A few input lines at a time are copied with padding, so that every filter tap is a
// shift of the copy.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_depthwise_cpu_template();

}  // namespace lehr
