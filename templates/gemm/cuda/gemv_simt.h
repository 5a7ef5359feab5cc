// Products of a matrix with a few vectors on CUDA cores (GEMV and similar). The matrix is read from memory
// once. The lanes and warps of a block share k, and add up their partial sums in a fixed order.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves GEMMs of f32, f16 or bf16 with at most 8 rows or at most 8 columns of C, and any other size and
/// layout. Sums are in f32; C is in f32 or in the operands' type. Up to 65535 matrices of a batch. The result
/// does not depend on the order in which blocks run.
Template gemv_simt_template();

}  // namespace lehr
