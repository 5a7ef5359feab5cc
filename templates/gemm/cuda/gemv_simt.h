// Products with few vectors on CUDA cores (GEMV and similar). The matrix is streamed once from memory, K is
// shared by the lanes and warps of a block, and the partial sums are added up in a fixed order.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves GEMMs with at most 8 rows or at most 8 columns of C, any other size, all layouts, of f32, f16 or
/// bf16 (sums in f32, C in f32 or the operands' type), up to 65535 matrices of a batch. The result does not
/// depend on the order in which blocks run.
Template gemv_simt_template();

}  // namespace lehr
