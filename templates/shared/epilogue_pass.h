// The epilogue as a separate kernel on the CPU, which runs after the product as in a framework without
// fusion.
#pragma once

#include "base/limits.h"
#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// Lowers a kernel that reads sums from the output, where they are scaled already, and replaces them by the
/// results of the steps. (For a gate or a pool, it reads them from a workspace: see
/// with_epilogue_operands().) It uses the widest vectors and, from 32768 elements on, all cores. Its
/// parameters are those of `product`, the kernel that runs before it. The workload must have an epilogue and
/// be f32 throughout; the device must be a CPU.
ir::Kernel lower_epilogue_pass(const Workload& workload, const Limits& limits, const ir::Kernel& product);

/// Returns `kernel` with the epilogue's operands as additional, unused parameters, so that it can be called
/// like the workload's own kernels. `kernel` is lowered for the workload without its epilogue. If the
/// epilogue has a gate or a pool, the product is larger than the output: then it goes to a workspace, from
/// which lower_epilogue_pass() reads it.
ir::Kernel with_epilogue_operands(ir::Kernel kernel, const Workload& workload);

}  // namespace lehr
