// GEMM in f32 on CUDA cores: block, warp and thread tiles, both operands staged through shared memory. The
// structure is that of the fastest public SGEMM kernels (salykova/sgemm.cu, CUTLASS's SIMT kernels); what the
// workload leaves open is a knob.
#pragma once

#include <optional>

#include "templates/gemm/cuda/gemm_simt_space.h"
#include "templates/shared/product_view.h"
#include "templates/template.h"

namespace lehr {

/// Serves strict f32 GEMMs of any size, both layouts of A, B and C, up to 65535 matrices of a batch.
Template gemm_simt_template();

/// The product of `problem`, with the epilogue of `workload`, by the schedules of gemm_simt. Where the
/// workload is a convolution, one operand is the view of its input (image_view.h): B with nchw, where A holds
/// the filters of each group and the batch is the images times the groups, and A with nhwc, where B holds the
/// filters. The parameters are x, f and y then.
ir::Kernel lower_gemm_simt(const Workload& workload, const ProductView& problem,
                           const GemmSimtSchedule& schedule);

}  // namespace lehr
