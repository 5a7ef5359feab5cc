// GEMM on tensor cores by mma.sync: tiles come by cp.async, or through registers where
// there is none, through a ring of stages in XOR-swizzled shared
// memory, fragments by ldmatrix, as in CUTLASS's kernels for sm_80. The warps of a block may also split k
// among them, which is what few rows or columns need: there are too few tiles to keep the memory busy
// otherwise.
#pragma once

#include "templates/gemm/cuda/gemm_mma_space.h"
#include "templates/template.h"

namespace lehr {

/// Serves f16 with sums in f32; from sm_80 on bf16 too, s8 with sums in s32, and f32 whose workload permits
/// tf32 or 3xtf32 (never strict f32); from sm_89 on e4m3 and e5m2, but where gemm_wgmma serves these. Any
/// size and layout, up to 65535 matrices of a batch.
Template gemm_mma_template();

/// Why products of such operands are left to that family, which has instructions for them where mma.sync is
/// made of conversions and products of f16; nullopt where they are not 8-bit floats, or mma.sync is as good,
/// or the other family does not serve the workload.
std::optional<std::string> why_served_by(const Template& other, DType operand, const Workload& workload,
                                         const Limits& limits);

/// The product, or the convolution of `problem.image`, whose parameters are x, f and y, with the epilogue of
/// `workload`.
ir::Kernel lower_gemm_mma(const Workload& workload, const GemmMmaProblem& problem,
                          const GemmMmaSchedule& schedule);

}  // namespace lehr
