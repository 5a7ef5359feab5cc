// Two small GEMMs written by hand, in the shape that the templates produce, for the tests of ir/.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include "ir/kernel.h"

namespace lehr::testing {

/// Returns C = A B on the CPU: 12 x 32 x 20, row tiles in parallel, a packed panel of B, 6 x 16 accumulators
/// in vectors of 8.
ir::Kernel cpu_gemm();

/// Returns C = A B on CUDA: 64 x 64 x 32, blocks of 32 x 32 and 64 threads, k in steps of 8 through two
/// shared tiles that cp.async fills, 4 x 4 accumulators per thread.
ir::Kernel cuda_gemm();

/// Returns `block` with its statement number `i`, which is a Node, as `change` leaves it.
template <typename Node, typename Change>
void change_nth(ir::Block& block, std::size_t i, Change change) {
  ir::Block result;
  for (std::size_t at = 0; at < block.size(); ++at) {
    ir::Stmt stmt = block[at];
    if (at == i) change(std::get<Node>(stmt.node));
    result.push_back(std::move(stmt));
  }
  block = std::move(result);
}

}  // namespace lehr::testing
