// Convolution on tensor cores as a product with the input's view (image_view.h). It has the ring of tiles,
// fragments and mma.sync of gemm_mma; the copies of one operand gather the taps of the filters.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves convolutions in the types of gemm_mma (never strict f32), except those with one filter per channel:
/// any filter, stride, padding, dilation and groups. nchw in 16 and 8 bits is gathered element by element,
/// through registers: neighbouring pixels share no aligned word.
Template conv2d_mma_template();

}  // namespace lehr
