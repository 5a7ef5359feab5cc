// Two small GEMMs written by hand, in the shape that the templates produce: what the tests of ir/ look at.
#pragma once

#include <iterator>
#include <variant>

#include "ir/kernel.h"

namespace lehr::testing {

/// C = A B on the CPU: 12 x 32 x 20, row tiles in parallel, a packed panel of B, 6 x 16 accumulators in
/// vectors of 8.
ir::Kernel cpu_gemm();

/// C = A B on CUDA: 64 x 64 x 32, blocks of 32 x 32 and 64 threads, k in steps of 8 through two shared tiles
/// that cp.async fills, 4 x 4 accumulators per thread.
ir::Kernel cuda_gemm();

/// Statement number `i` of a block, which is a Node.
template <typename Node>
Node& nth(ir::Block& block, int i) {
  return std::get<Node>(std::next(block.begin(), i)->node);
}

}  // namespace lehr::testing
