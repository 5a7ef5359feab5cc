// Depthwise convolution on the CPU: each filter sees one channel. Vectors run along the line (nchw) or across
// channels (nhwc); a padded copy of a few lines makes every filter tap a shift.
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_depthwise_cpu_template();

}  // namespace lehr
