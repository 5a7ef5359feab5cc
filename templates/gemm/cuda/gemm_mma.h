// GEMM on tensor cores by mma.sync. Tiles go through a ring of stages in XOR-swizzled shared memory. They are
// copied there by cp.async (through registers on devices without it) and read by ldmatrix, as in CUTLASS's
// kernels for sm_80. The warps of a block may also share k among them: products with few rows or columns need
// that, because they have too few tiles to keep the memory busy.
#pragma once

#include "templates/gemm/cuda/gemm_mma_space.h"
#include "templates/template.h"

namespace lehr {

/// Serves f16 with sums in f32; from sm_80 on also bf16, s8 with sums in s32, and f32 whose workload permits
/// tf32 or 3xtf32 (never strict f32); from sm_89 on e4m3 and e5m2, except where gemm_wgmma serves these. Any
/// size and layout, up to 65535 matrices of a batch.
Template gemm_mma_template();

/// Explains why products of 8-bit floats are left to family `other`: it has instructions for them, while
/// mma.sync is emulated with conversions and products of f16. Returns nullopt for other types, where mma.sync
/// is as good, and if the other family does not serve the workload.
std::optional<std::string> why_served_by(const Template& other, DType operand, const Workload& workload,
                                         const Limits& limits);

/// Returns the kernel of a product. If `problem.image` is given, returns the kernel of the convolution, with
/// the parameters x, f and y. Both have the epilogue of `workload`.
ir::Kernel lower_gemm_mma(const Workload& workload, const GemmMmaProblem& problem,
                          const GemmMmaSchedule& schedule);

}  // namespace lehr
