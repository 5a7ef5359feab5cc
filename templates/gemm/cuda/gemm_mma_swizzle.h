// The permutation of the 16-byte chunks within a line of shared memory. The copies that write the chunks and
// the fragments that read them both use it.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_mma_space.h"

namespace lehr {

/// Returns the value with which the chunk numbers of line `line` are XORed. It depends on line % 8 only.
/// Chunk c of 8 consecutive lines thus lies in 8 different groups of 4 banks.
ir::Expr gemm_mma_swizzle(const GemmMmaTile& tile, const ir::Expr& line);

}  // namespace lehr
