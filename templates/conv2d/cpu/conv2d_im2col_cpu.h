// Convolution on the CPU as a product of the filters and a matrix of pixels (im2col), by gemm_cpu's loop
// nest. The matrix never exists as a whole: its panels are gathered from the image block by block, just
// before they are used. With nchw, vectors run along the pixels of a plane, across the ends of lines; with
// nhwc, along the output channels. The filters are packed once, before the first launch
// (ir::Kernel::prepack).
#pragma once

#include "templates/template.h"

namespace lehr {

Template conv2d_im2col_cpu_template();

}  // namespace lehr
