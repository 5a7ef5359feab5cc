// GEMM in f32 on CUDA cores: block, warp and thread tiles, both operands staged through shared memory. The
// structure is that of the fastest public SGEMM kernels (kernels.md section 1.2); what the workload leaves
// open is a knob.
#pragma once

#include "templates/template.h"

namespace lehr {

/// Serves strict f32 GEMMs of any size, both layouts of A, B and C, up to 65535 matrices of a batch.
Template gemm_simt_template();

}  // namespace lehr
