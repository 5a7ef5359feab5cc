// GEMM on tensor cores by mma.sync: tiles come by cp.async through a ring of stages in XOR-swizzled shared
// memory, fragments by ldmatrix, as in CUTLASS's kernels for sm_80. The warps of a block may also split k
// among them, which is what few rows or columns need: there are too few tiles to keep the memory busy
// otherwise.
#pragma once

#include "templates/gemm/cuda/gemm_mma_space.h"
#include "templates/template.h"

namespace lehr {

/// Serves, from sm_80 on: f16 and bf16 with sums in f32; s8 with sums in s32; f32 whose workload permits tf32
/// or 3xtf32 (never strict f32); from sm_89 on e4m3 and e5m2. Any size and layout, up to 65535 matrices of a
/// batch.
Template gemm_mma_template();

/// The product, or the convolution of `problem.image`, whose parameters are x, f and y, with the epilogue of
/// `workload`.
ir::Kernel lower_gemm_mma(const Workload& workload, const GemmMmaProblem& problem,
                          const GemmMmaSchedule& schedule);

}  // namespace lehr
