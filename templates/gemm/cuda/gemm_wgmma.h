// Hopper's tensor cores. The tensor memory accelerator copies tiles into shared memory for one warpgroup that
// does nothing else, and other warpgroups multiply them there by wgmma. Products, and convolutions by the
// same schedules.
#pragma once

#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/template.h"

namespace lehr {

/// Serves f16, bf16, tf32, s8 and 8-bit floats on sm_90a, with lines of a multiple of 16 bytes. Types other
/// than the 16-bit ones need both operands along k.
Template gemm_wgmma_template();

/// Returns the kernel of a product, or of a convolution that conv2d_wgmma serves, with parameters x, f and y.
ir::Kernel lower_gemm_wgmma(const Workload& workload, const GemmWgmmaSchedule& schedule,
                            const Limits& limits);

}  // namespace lehr
