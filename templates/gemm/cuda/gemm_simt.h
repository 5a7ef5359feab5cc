// GEMM in f32 on CUDA cores: block, warp and thread tiles, both operands staged through shared memory. The
// kernels have the same structure as the fastest public SGEMM kernels (salykova/sgemm.cu, CUTLASS's SIMT
// kernels). All other choices are knobs.
#pragma once

#include <optional>

#include "templates/gemm/cuda/gemm_simt_space.h"
#include "templates/shared/product_view.h"
#include "templates/template.h"

namespace lehr {

/// Serves strict f32 GEMMs of any size, with both layouts of A, B and C, and up to 65535 matrices of a batch.
Template gemm_simt_template();

/// Returns the kernel of the product `problem`, with the epilogue of `workload`. If the workload is a
/// convolution, one operand is a view of the convolution's input (image_view.h), and the kernel's parameters
/// are x, f and y. With nchw, B is the view, A holds the filters of one group, and the batch is images x
/// groups. With nhwc, A is the view, and B holds the filters.
ir::Kernel lower_gemm_simt(const Workload& workload, const ProductView& problem,
                           const GemmSimtSchedule& schedule);

}  // namespace lehr
