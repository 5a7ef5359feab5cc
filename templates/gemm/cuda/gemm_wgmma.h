// GEMM on Hopper's tensor cores by wgmma. One warpgroup only copies tiles into shared memory, by the tensor
// memory accelerator. The other warpgroups multiply them from there. Convolutions use the same schedules.
#pragma once

#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/template.h"

namespace lehr {

/// Serves f16, bf16, tf32, s8 and 8-bit floats on sm_90a, with lines of a multiple of 16 bytes. s8 and 8-bit
/// floats need both operands along k.
Template gemm_wgmma_template();

/// Returns the kernel of a product, or of a convolution that conv2d_wgmma serves. The convolution has the
/// parameters x, f and y.
ir::Kernel lower_gemm_wgmma(const Workload& workload, const GemmWgmmaSchedule& schedule,
                            const Limits& limits);

}  // namespace lehr
