// The permutation of the chunks of a line of shared memory, shared by the copies that write them and the
// fragments that read them.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_mma_space.h"

namespace lehr {

/// Returns the value that the number of a 16-byte chunk is XORed with in line `line`. 8 lines in a row have
/// their chunk c in 8 different groups of 4 banks. Depends on line % 8 only.
ir::Expr gemm_mma_swizzle(const GemmMmaTile& tile, const ir::Expr& line);

}  // namespace lehr
