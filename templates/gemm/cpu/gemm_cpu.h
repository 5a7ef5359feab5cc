// GEMM on the CPU as an outer product in registers: cache blocking, packed panels if they pay, a micro-kernel
// of rows x vectors accumulators. The structure is that of Goto & van de Geijn, "Anatomy of high-performance
// matrix multiplication" (2008) and of BLIS; each remaining choice is a knob.
#pragma once

#include "templates/gemm/cpu/gemm_cpu_space.h"
#include "templates/template.h"

namespace lehr {

Template gemm_cpu_template();

/// Returns the kernel of a schedule, whatever its family's name. `workload` is a GEMM.
ir::Kernel lower_gemm_cpu(const Workload& workload, const GemmCpuSchedule& schedule, const Limits& limits);

}  // namespace lehr
